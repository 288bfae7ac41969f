/** How a definition's versions are converted into each other: not at all, or by a webhook. */
import { type FieldError, forbiddenField, invalid, notSupportedText, required } from '../../api/errors/field-errors.ts'
import type {
  ApiextensionsV1ServiceReference,
  ApiextensionsV1WebhookClientConfig,
  CustomResourceConversion,
} from '../../api/generated/types.ts'
import { dns1035Label } from '../../api/names/name-formats.ts'
import { webhookService, webhookURL } from '../../api/validation/admissionregistration.ts'

export function conversionErrors(conversion: CustomResourceConversion | undefined, errors: FieldError[]): void {
  if (conversion === undefined) return
  const { strategy = '', webhook } = conversion
  const client: ApiextensionsV1WebhookClientConfig | undefined = webhook?.clientConfig
  const reviews: readonly string[] = webhook?.conversionReviewVersions ?? []
  const path = 'spec.conversion'
  const at = `${path}.webhookClientConfig`
  if (strategy === '') errors.push(required(`${path}.strategy`))
  else if (strategy !== 'None' && strategy !== 'Webhook')
    errors.push(notSupportedText(`${path}.strategy`, strategy, ['None', 'Webhook']))
  if (strategy !== 'Webhook') {
    const not = 'should not be set when strategy is not set to Webhook'
    if (client !== undefined) errors.push(forbiddenField(at, not))
    if (reviews.length > 0) errors.push(forbiddenField(`${path}.conversionReviewVersions`, not))
    return
  }
  if (client === undefined) errors.push(required(at, 'required when strategy is set to Webhook'))
  else {
    const { url, service } = client
    if ((url === undefined) === (service === undefined))
      errors.push(required(at, 'exactly one of url or service is required'))
    else if (url !== undefined) webhookURL(url, `${at}.url`, errors)
    else serviceErrors(service ?? {}, `${at}.service`, errors)
  }
  reviewErrors(reviews, `${path}.conversionReviewVersions`, errors)
}

function serviceErrors(service: Partial<ApiextensionsV1ServiceReference>, path: string, errors: FieldError[]): void {
  const { name = '', namespace = '' } = service
  if (name === '') errors.push(required(`${path}.name`))
  if (namespace === '') errors.push(required(`${path}.namespace`))
  webhookService({ ...service, name: name || 'named', namespace: namespace || 'named' }, path, errors)
}

function reviewErrors(reviews: readonly string[], path: string, errors: FieldError[]): void {
  if (reviews.length === 0) {
    errors.push(required(path))
    return
  }
  const seen = new Set<string>()
  reviews.forEach((version, i) => {
    if (seen.has(version)) {
      errors.push(invalid(`${path}[${i}]`, version, 'duplicate version'))
      return
    }
    seen.add(version)
    for (const message of dns1035Label(version)) errors.push(invalid(`${path}[${i}]`, version, message))
  })
  if (!reviews.some((version) => version === 'v1' || version === 'v1beta1'))
    errors.push(invalid(path, reviews, 'must include at least one of v1, v1beta1'))
}
