// Written by tools/schema-gen; do not edit.
import type { Json, JsonObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../object.ts'

export type { ManagedFieldsEntry, ObjectMeta, OwnerReference }

/** io.k8s.api.admissionregistration.v1.ApplyConfiguration */
export type ApplyConfiguration = {
  readonly expression?: string
}

/** io.k8s.api.admissionregistration.v1.AuditAnnotation */
export type AuditAnnotation = {
  readonly key: string
  readonly valueExpression: string
}

/** io.k8s.api.admissionregistration.v1.ExpressionWarning */
export type ExpressionWarning = {
  readonly fieldRef: string
  readonly warning: string
}

/** io.k8s.api.admissionregistration.v1.JSONPatch */
export type JSONPatch = {
  readonly expression?: string
}

/** io.k8s.api.admissionregistration.v1.MatchCondition */
export type MatchCondition = {
  readonly name: string
  readonly expression: string
}

/** io.k8s.api.admissionregistration.v1.MatchResources */
export type MatchResources = {
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly resourceRules?: readonly NamedRuleWithOperations[]
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[]
  readonly matchPolicy?: string
}

/** io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicy */
export type MutatingAdmissionPolicy = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: MutatingAdmissionPolicySpec
}

/** io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBinding */
export type MutatingAdmissionPolicyBinding = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: MutatingAdmissionPolicyBindingSpec
}

/** io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingList */
export type MutatingAdmissionPolicyBindingList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly MutatingAdmissionPolicyBinding[]
}

/** io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingSpec */
export type MutatingAdmissionPolicyBindingSpec = {
  readonly policyName?: string
  readonly paramRef?: ParamRef
  readonly matchResources?: MatchResources
}

/** io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyList */
export type MutatingAdmissionPolicyList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly MutatingAdmissionPolicy[]
}

/** io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec */
export type MutatingAdmissionPolicySpec = {
  readonly paramKind?: ParamKind
  readonly matchConstraints?: MatchResources
  readonly variables?: readonly Variable[]
  readonly mutations?: readonly Mutation[]
  readonly failurePolicy?: string
  readonly matchConditions?: readonly MatchCondition[]
  readonly reinvocationPolicy?: string
}

/** io.k8s.api.admissionregistration.v1.MutatingWebhook */
export type MutatingWebhook = {
  readonly name: string
  readonly clientConfig: AdmissionregistrationV1WebhookClientConfig
  readonly rules?: readonly RuleWithOperations[]
  readonly failurePolicy?: string
  readonly matchPolicy?: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly sideEffects: string
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions: readonly string[]
  readonly reinvocationPolicy?: string
  readonly matchConditions?: readonly MatchCondition[]
}

/** io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration */
export type MutatingWebhookConfiguration = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly webhooks?: readonly MutatingWebhook[]
}

/** io.k8s.api.admissionregistration.v1.MutatingWebhookConfigurationList */
export type MutatingWebhookConfigurationList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly MutatingWebhookConfiguration[]
}

/** io.k8s.api.admissionregistration.v1.Mutation */
export type Mutation = {
  readonly patchType: string
  readonly applyConfiguration?: ApplyConfiguration
  readonly jsonPatch?: JSONPatch
}

/** io.k8s.api.admissionregistration.v1.NamedRuleWithOperations */
export type NamedRuleWithOperations = {
  readonly resourceNames?: readonly string[]
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
}

/** io.k8s.api.admissionregistration.v1.ParamKind */
export type ParamKind = {
  readonly apiVersion?: string
  readonly kind?: string
}

/** io.k8s.api.admissionregistration.v1.ParamRef */
export type ParamRef = {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: LabelSelector
  readonly parameterNotFoundAction?: string
}

/** io.k8s.api.admissionregistration.v1.RuleWithOperations */
export type RuleWithOperations = {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
}

/** io.k8s.api.admissionregistration.v1.ServiceReference */
export type AdmissionregistrationV1ServiceReference = {
  readonly namespace: string
  readonly name: string
  readonly path?: string
  readonly port?: number
}

/** io.k8s.api.admissionregistration.v1.TypeChecking */
export type TypeChecking = {
  readonly expressionWarnings?: readonly ExpressionWarning[]
}

/** io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy */
export type ValidatingAdmissionPolicy = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: ValidatingAdmissionPolicySpec
  readonly status?: ValidatingAdmissionPolicyStatus
}

/** io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding */
export type ValidatingAdmissionPolicyBinding = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: ValidatingAdmissionPolicyBindingSpec
}

/** io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingList */
export type ValidatingAdmissionPolicyBindingList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ValidatingAdmissionPolicyBinding[]
}

/** io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec */
export type ValidatingAdmissionPolicyBindingSpec = {
  readonly policyName?: string
  readonly paramRef?: ParamRef
  readonly matchResources?: MatchResources
  readonly validationActions?: readonly string[]
}

/** io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyList */
export type ValidatingAdmissionPolicyList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ValidatingAdmissionPolicy[]
}

/** io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec */
export type ValidatingAdmissionPolicySpec = {
  readonly paramKind?: ParamKind
  readonly matchConstraints?: MatchResources
  readonly validations?: readonly Validation[]
  readonly failurePolicy?: string
  readonly auditAnnotations?: readonly AuditAnnotation[]
  readonly matchConditions?: readonly MatchCondition[]
  readonly variables?: readonly Variable[]
}

/** io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus */
export type ValidatingAdmissionPolicyStatus = {
  readonly observedGeneration?: number
  readonly typeChecking?: TypeChecking
  readonly conditions?: readonly Condition[]
}

/** io.k8s.api.admissionregistration.v1.ValidatingWebhook */
export type ValidatingWebhook = {
  readonly name: string
  readonly clientConfig: AdmissionregistrationV1WebhookClientConfig
  readonly rules?: readonly RuleWithOperations[]
  readonly failurePolicy?: string
  readonly matchPolicy?: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly sideEffects: string
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions: readonly string[]
  readonly matchConditions?: readonly MatchCondition[]
}

/** io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration */
export type ValidatingWebhookConfiguration = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly webhooks?: readonly ValidatingWebhook[]
}

/** io.k8s.api.admissionregistration.v1.ValidatingWebhookConfigurationList */
export type ValidatingWebhookConfigurationList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ValidatingWebhookConfiguration[]
}

/** io.k8s.api.admissionregistration.v1.Validation */
export type Validation = {
  readonly expression: string
  readonly message?: string
  readonly reason?: string
  readonly messageExpression?: string
}

/** io.k8s.api.admissionregistration.v1.Variable */
export type Variable = {
  readonly name: string
  readonly expression: string
}

/** io.k8s.api.admissionregistration.v1.WebhookClientConfig */
export type AdmissionregistrationV1WebhookClientConfig = {
  readonly url?: string
  readonly service?: AdmissionregistrationV1ServiceReference
  readonly caBundle?: string
}

/** io.k8s.api.apps.v1.ControllerRevision */
export type ControllerRevision = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly data: Json
  readonly revision: number
}

/** io.k8s.api.apps.v1.ControllerRevisionList */
export type ControllerRevisionList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ControllerRevision[]
}

/** io.k8s.api.apps.v1.DaemonSet */
export type DaemonSet = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: DaemonSetSpec
  readonly status?: DaemonSetStatus
}

/** io.k8s.api.apps.v1.DaemonSetCondition */
export type DaemonSetCondition = {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.apps.v1.DaemonSetList */
export type DaemonSetList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly DaemonSet[]
}

/** io.k8s.api.apps.v1.DaemonSetSpec */
export type DaemonSetSpec = {
  readonly selector: LabelSelector
  readonly template: PodTemplateSpec
  readonly updateStrategy?: DaemonSetUpdateStrategy
  readonly minReadySeconds?: number
  readonly revisionHistoryLimit?: number
}

/** io.k8s.api.apps.v1.DaemonSetStatus */
export type DaemonSetStatus = {
  readonly currentNumberScheduled: number
  readonly numberMisscheduled: number
  readonly desiredNumberScheduled: number
  readonly numberReady: number
  readonly observedGeneration?: number
  readonly updatedNumberScheduled?: number
  readonly numberAvailable?: number
  readonly numberUnavailable?: number
  readonly collisionCount?: number
  readonly conditions?: readonly DaemonSetCondition[]
}

/** io.k8s.api.apps.v1.DaemonSetUpdateStrategy */
export type DaemonSetUpdateStrategy = {
  readonly type?: string
  readonly rollingUpdate?: RollingUpdateDaemonSet
}

/** io.k8s.api.apps.v1.Deployment */
export type Deployment = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: DeploymentSpec
  readonly status?: DeploymentStatus
}

/** io.k8s.api.apps.v1.DeploymentCondition */
export type DeploymentCondition = {
  readonly type: string
  readonly status: string
  readonly lastUpdateTime?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.apps.v1.DeploymentList */
export type DeploymentList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Deployment[]
}

/** io.k8s.api.apps.v1.DeploymentSpec */
export type DeploymentSpec = {
  readonly replicas?: number
  readonly selector: LabelSelector
  readonly template: PodTemplateSpec
  readonly strategy?: DeploymentStrategy
  readonly minReadySeconds?: number
  readonly revisionHistoryLimit?: number
  readonly paused?: boolean
  readonly progressDeadlineSeconds?: number
}

/** io.k8s.api.apps.v1.DeploymentStatus */
export type DeploymentStatus = {
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly updatedReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly unavailableReplicas?: number
  readonly terminatingReplicas?: number
  readonly conditions?: readonly DeploymentCondition[]
  readonly collisionCount?: number
}

/** io.k8s.api.apps.v1.DeploymentStrategy */
export type DeploymentStrategy = {
  readonly type?: string
  readonly rollingUpdate?: RollingUpdateDeployment
}

/** io.k8s.api.apps.v1.ReplicaSet */
export type ReplicaSet = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: ReplicaSetSpec
  readonly status?: ReplicaSetStatus
}

/** io.k8s.api.apps.v1.ReplicaSetCondition */
export type ReplicaSetCondition = {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.apps.v1.ReplicaSetList */
export type ReplicaSetList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ReplicaSet[]
}

/** io.k8s.api.apps.v1.ReplicaSetSpec */
export type ReplicaSetSpec = {
  readonly replicas?: number
  readonly minReadySeconds?: number
  readonly selector: LabelSelector
  readonly template?: PodTemplateSpec
}

/** io.k8s.api.apps.v1.ReplicaSetStatus */
export type ReplicaSetStatus = {
  readonly replicas: number
  readonly fullyLabeledReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly terminatingReplicas?: number
  readonly observedGeneration?: number
  readonly conditions?: readonly ReplicaSetCondition[]
}

/** io.k8s.api.apps.v1.RollingUpdateDaemonSet */
export type RollingUpdateDaemonSet = {
  readonly maxUnavailable?: number | string
  readonly maxSurge?: number | string
}

/** io.k8s.api.apps.v1.RollingUpdateDeployment */
export type RollingUpdateDeployment = {
  readonly maxUnavailable?: number | string
  readonly maxSurge?: number | string
}

/** io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy */
export type RollingUpdateStatefulSetStrategy = {
  readonly partition?: number
  readonly maxUnavailable?: number | string
}

/** io.k8s.api.apps.v1.StatefulSet */
export type StatefulSet = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: StatefulSetSpec
  readonly status?: StatefulSetStatus
}

/** io.k8s.api.apps.v1.StatefulSetCondition */
export type StatefulSetCondition = {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.apps.v1.StatefulSetList */
export type StatefulSetList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly StatefulSet[]
}

/** io.k8s.api.apps.v1.StatefulSetOrdinals */
export type StatefulSetOrdinals = {
  readonly start: number
}

/** io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy */
export type StatefulSetPersistentVolumeClaimRetentionPolicy = {
  readonly whenDeleted?: string
  readonly whenScaled?: string
}

/** io.k8s.api.apps.v1.StatefulSetSpec */
export type StatefulSetSpec = {
  readonly replicas?: number
  readonly selector: LabelSelector
  readonly template: PodTemplateSpec
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[]
  readonly serviceName: string
  readonly podManagementPolicy?: string
  readonly updateStrategy?: StatefulSetUpdateStrategy
  readonly revisionHistoryLimit?: number
  readonly minReadySeconds?: number
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy
  readonly ordinals?: StatefulSetOrdinals
}

/** io.k8s.api.apps.v1.StatefulSetStatus */
export type StatefulSetStatus = {
  readonly observedGeneration?: number
  readonly replicas: number
  readonly readyReplicas?: number
  readonly currentReplicas?: number
  readonly updatedReplicas?: number
  readonly currentRevision?: string
  readonly updateRevision?: string
  readonly collisionCount?: number
  readonly conditions?: readonly StatefulSetCondition[]
  readonly availableReplicas: number
}

/** io.k8s.api.apps.v1.StatefulSetUpdateStrategy */
export type StatefulSetUpdateStrategy = {
  readonly type?: string
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy
}

/** io.k8s.api.authentication.v1.BoundObjectReference */
export type BoundObjectReference = {
  readonly kind?: string
  readonly apiVersion?: string
  readonly name?: string
  readonly uid?: string
}

/** io.k8s.api.authentication.v1.SelfSubjectReview */
export type SelfSubjectReview = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly status?: SelfSubjectReviewStatus
}

/** io.k8s.api.authentication.v1.SelfSubjectReviewStatus */
export type SelfSubjectReviewStatus = {
  readonly userInfo?: UserInfo
}

/** io.k8s.api.authentication.v1.TokenRequest */
export type AuthenticationV1TokenRequest = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: TokenRequestSpec
  readonly status?: TokenRequestStatus
}

/** io.k8s.api.authentication.v1.TokenRequestSpec */
export type TokenRequestSpec = {
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly boundObjectRef: BoundObjectReference
  readonly attestations?: { readonly [key: string]: readonly string[] }
}

/** io.k8s.api.authentication.v1.TokenRequestStatus */
export type TokenRequestStatus = {
  readonly token: string
  readonly expirationTimestamp: string
}

/** io.k8s.api.authentication.v1.TokenReview */
export type TokenReview = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: TokenReviewSpec
  readonly status?: TokenReviewStatus
}

/** io.k8s.api.authentication.v1.TokenReviewSpec */
export type TokenReviewSpec = {
  readonly token?: string
  readonly audiences?: readonly string[]
}

/** io.k8s.api.authentication.v1.TokenReviewStatus */
export type TokenReviewStatus = {
  readonly authenticated?: boolean
  readonly user?: UserInfo
  readonly audiences?: readonly string[]
  readonly error?: string
}

/** io.k8s.api.authentication.v1.UserInfo */
export type UserInfo = {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
}

/** io.k8s.api.authorization.v1.FieldSelectorAttributes */
export type FieldSelectorAttributes = {
  readonly rawSelector?: string
  readonly requirements?: readonly FieldSelectorRequirement[]
}

/** io.k8s.api.authorization.v1.LabelSelectorAttributes */
export type LabelSelectorAttributes = {
  readonly rawSelector?: string
  readonly requirements?: readonly LabelSelectorRequirement[]
}

/** io.k8s.api.authorization.v1.LocalSubjectAccessReview */
export type LocalSubjectAccessReview = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: SubjectAccessReviewSpec
  readonly status?: SubjectAccessReviewStatus
}

/** io.k8s.api.authorization.v1.NonResourceAttributes */
export type NonResourceAttributes = {
  readonly path?: string
  readonly verb?: string
}

/** io.k8s.api.authorization.v1.NonResourceRule */
export type NonResourceRule = {
  readonly verbs: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** io.k8s.api.authorization.v1.ResourceAttributes */
export type ResourceAttributes = {
  readonly namespace?: string
  readonly verb?: string
  readonly group?: string
  readonly version?: string
  readonly resource?: string
  readonly subresource?: string
  readonly name?: string
  readonly fieldSelector?: FieldSelectorAttributes
  readonly labelSelector?: LabelSelectorAttributes
}

/** io.k8s.api.authorization.v1.ResourceRule */
export type ResourceRule = {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** io.k8s.api.authorization.v1.SelfSubjectAccessReview */
export type SelfSubjectAccessReview = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: SelfSubjectAccessReviewSpec
  readonly status?: SubjectAccessReviewStatus
}

/** io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec */
export type SelfSubjectAccessReviewSpec = {
  readonly resourceAttributes?: ResourceAttributes
  readonly nonResourceAttributes?: NonResourceAttributes
}

/** io.k8s.api.authorization.v1.SelfSubjectRulesReview */
export type SelfSubjectRulesReview = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: SelfSubjectRulesReviewSpec
  readonly status?: SubjectRulesReviewStatus
}

/** io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec */
export type SelfSubjectRulesReviewSpec = {
  readonly namespace?: string
}

/** io.k8s.api.authorization.v1.SubjectAccessReview */
export type SubjectAccessReview = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: SubjectAccessReviewSpec
  readonly status?: SubjectAccessReviewStatus
}

/** io.k8s.api.authorization.v1.SubjectAccessReviewSpec */
export type SubjectAccessReviewSpec = {
  readonly resourceAttributes?: ResourceAttributes
  readonly nonResourceAttributes?: NonResourceAttributes
  readonly user?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
  readonly uid?: string
}

/** io.k8s.api.authorization.v1.SubjectAccessReviewStatus */
export type SubjectAccessReviewStatus = {
  readonly allowed: boolean
  readonly denied?: boolean
  readonly reason?: string
  readonly evaluationError?: string
}

/** io.k8s.api.authorization.v1.SubjectRulesReviewStatus */
export type SubjectRulesReviewStatus = {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  readonly incomplete: boolean
  readonly evaluationError?: string
}

/** io.k8s.api.autoscaling.v1.CrossVersionObjectReference */
export type AutoscalingV1CrossVersionObjectReference = {
  readonly kind: string
  readonly name: string
  readonly apiVersion?: string
}

/** io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler */
export type AutoscalingV1HorizontalPodAutoscaler = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: AutoscalingV1HorizontalPodAutoscalerSpec
  readonly status?: AutoscalingV1HorizontalPodAutoscalerStatus
}

/** io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerList */
export type AutoscalingV1HorizontalPodAutoscalerList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly AutoscalingV1HorizontalPodAutoscaler[]
}

/** io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec */
export type AutoscalingV1HorizontalPodAutoscalerSpec = {
  readonly scaleTargetRef: AutoscalingV1CrossVersionObjectReference
  readonly minReplicas?: number
  readonly maxReplicas: number
  readonly targetCPUUtilizationPercentage?: number
}

/** io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus */
export type AutoscalingV1HorizontalPodAutoscalerStatus = {
  readonly observedGeneration?: number
  readonly lastScaleTime?: string
  readonly currentReplicas: number
  readonly desiredReplicas: number
  readonly currentCPUUtilizationPercentage?: number
}

/** io.k8s.api.autoscaling.v1.Scale */
export type Scale = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: ScaleSpec
  readonly status?: ScaleStatus
}

/** io.k8s.api.autoscaling.v1.ScaleSpec */
export type ScaleSpec = {
  readonly replicas?: number
}

/** io.k8s.api.autoscaling.v1.ScaleStatus */
export type ScaleStatus = {
  readonly replicas: number
  readonly selector?: string
}

/** io.k8s.api.autoscaling.v2.ContainerResourceMetricSource */
export type ContainerResourceMetricSource = {
  readonly name: string
  readonly target: MetricTarget
  readonly container: string
}

/** io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus */
export type ContainerResourceMetricStatus = {
  readonly name: string
  readonly current: MetricValueStatus
  readonly container: string
}

/** io.k8s.api.autoscaling.v2.CrossVersionObjectReference */
export type CrossVersionObjectReference = {
  readonly kind: string
  readonly name: string
  readonly apiVersion?: string
}

/** io.k8s.api.autoscaling.v2.ExternalMetricSource */
export type ExternalMetricSource = {
  readonly metric: MetricIdentifier
  readonly target: MetricTarget
}

/** io.k8s.api.autoscaling.v2.ExternalMetricStatus */
export type ExternalMetricStatus = {
  readonly metric: MetricIdentifier
  readonly current: MetricValueStatus
}

/** io.k8s.api.autoscaling.v2.HPAScalingPolicy */
export type HPAScalingPolicy = {
  readonly type: string
  readonly value: number
  readonly periodSeconds: number
}

/** io.k8s.api.autoscaling.v2.HPAScalingRules */
export type HPAScalingRules = {
  readonly stabilizationWindowSeconds?: number
  readonly selectPolicy?: string
  readonly policies?: readonly HPAScalingPolicy[]
  readonly tolerance?: string
}

/** io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler */
export type HorizontalPodAutoscaler = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: HorizontalPodAutoscalerSpec
  readonly status?: HorizontalPodAutoscalerStatus
}

/** io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior */
export type HorizontalPodAutoscalerBehavior = {
  readonly scaleUp?: HPAScalingRules
  readonly scaleDown?: HPAScalingRules
}

/** io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition */
export type HorizontalPodAutoscalerCondition = {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
  readonly observedGeneration?: number
}

/** io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerList */
export type HorizontalPodAutoscalerList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly HorizontalPodAutoscaler[]
}

/** io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec */
export type HorizontalPodAutoscalerSpec = {
  readonly scaleTargetRef: CrossVersionObjectReference
  readonly minReplicas?: number
  readonly maxReplicas: number
  readonly metrics?: readonly MetricSpec[]
  readonly behavior?: HorizontalPodAutoscalerBehavior
}

/** io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus */
export type HorizontalPodAutoscalerStatus = {
  readonly observedGeneration?: number
  readonly lastScaleTime?: string
  readonly currentReplicas?: number
  readonly desiredReplicas: number
  readonly currentMetrics: readonly MetricStatus[]
  readonly conditions?: readonly HorizontalPodAutoscalerCondition[]
}

/** io.k8s.api.autoscaling.v2.MetricIdentifier */
export type MetricIdentifier = {
  readonly name: string
  readonly selector?: LabelSelector
}

/** io.k8s.api.autoscaling.v2.MetricSpec */
export type MetricSpec = {
  readonly type: string
  readonly object?: ObjectMetricSource
  readonly pods?: PodsMetricSource
  readonly resource?: ResourceMetricSource
  readonly containerResource?: ContainerResourceMetricSource
  readonly external?: ExternalMetricSource
}

/** io.k8s.api.autoscaling.v2.MetricStatus */
export type MetricStatus = {
  readonly type: string
  readonly object?: ObjectMetricStatus
  readonly pods?: PodsMetricStatus
  readonly resource?: ResourceMetricStatus
  readonly containerResource?: ContainerResourceMetricStatus
  readonly external?: ExternalMetricStatus
}

/** io.k8s.api.autoscaling.v2.MetricTarget */
export type MetricTarget = {
  readonly type: string
  readonly value?: string
  readonly averageValue?: string
  readonly averageUtilization?: number
}

/** io.k8s.api.autoscaling.v2.MetricValueStatus */
export type MetricValueStatus = {
  readonly value?: string
  readonly averageValue?: string
  readonly averageUtilization?: number
}

/** io.k8s.api.autoscaling.v2.ObjectMetricSource */
export type ObjectMetricSource = {
  readonly describedObject: CrossVersionObjectReference
  readonly target: MetricTarget
  readonly metric: MetricIdentifier
}

/** io.k8s.api.autoscaling.v2.ObjectMetricStatus */
export type ObjectMetricStatus = {
  readonly metric: MetricIdentifier
  readonly current: MetricValueStatus
  readonly describedObject: CrossVersionObjectReference
}

/** io.k8s.api.autoscaling.v2.PodsMetricSource */
export type PodsMetricSource = {
  readonly metric: MetricIdentifier
  readonly target: MetricTarget
}

/** io.k8s.api.autoscaling.v2.PodsMetricStatus */
export type PodsMetricStatus = {
  readonly metric: MetricIdentifier
  readonly current: MetricValueStatus
}

/** io.k8s.api.autoscaling.v2.ResourceMetricSource */
export type ResourceMetricSource = {
  readonly name: string
  readonly target: MetricTarget
}

/** io.k8s.api.autoscaling.v2.ResourceMetricStatus */
export type ResourceMetricStatus = {
  readonly name: string
  readonly current: MetricValueStatus
}

/** io.k8s.api.batch.v1.CronJob */
export type CronJob = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: CronJobSpec
  readonly status?: CronJobStatus
}

/** io.k8s.api.batch.v1.CronJobList */
export type CronJobList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly CronJob[]
}

/** io.k8s.api.batch.v1.CronJobSpec */
export type CronJobSpec = {
  readonly schedule: string
  readonly timeZone?: string
  readonly startingDeadlineSeconds?: number
  readonly concurrencyPolicy?: string
  readonly suspend?: boolean
  readonly jobTemplate: JobTemplateSpec
  readonly successfulJobsHistoryLimit?: number
  readonly failedJobsHistoryLimit?: number
}

/** io.k8s.api.batch.v1.CronJobStatus */
export type CronJobStatus = {
  readonly active?: readonly ObjectReference[]
  readonly lastScheduleTime?: string
  readonly lastSuccessfulTime?: string
}

/** io.k8s.api.batch.v1.Job */
export type Job = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: JobSpec
  readonly status?: JobStatus
}

/** io.k8s.api.batch.v1.JobCondition */
export type JobCondition = {
  readonly type: string
  readonly status: string
  readonly lastProbeTime?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.batch.v1.JobList */
export type JobList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Job[]
}

/** io.k8s.api.batch.v1.JobSchedulingConfiguration */
export type JobSchedulingConfiguration = {
  readonly schedulingPolicy?: WorkloadPodGroupSchedulingPolicy
  readonly schedulingConstraints?: WorkloadPodGroupSchedulingConstraints
  readonly disruptionMode?: WorkloadPodGroupDisruptionMode
  readonly resourceClaims?: readonly WorkloadPodGroupResourceClaim[]
}

/** io.k8s.api.batch.v1.JobSpec */
export type JobSpec = {
  readonly parallelism?: number
  readonly completions?: number
  readonly activeDeadlineSeconds?: number
  readonly podFailurePolicy?: PodFailurePolicy
  readonly successPolicy?: SuccessPolicy
  readonly backoffLimit?: number
  readonly backoffLimitPerIndex?: number
  readonly maxFailedIndexes?: number
  readonly selector?: LabelSelector
  readonly manualSelector?: boolean
  readonly template: PodTemplateSpec
  readonly ttlSecondsAfterFinished?: number
  readonly completionMode?: string
  readonly suspend?: boolean
  readonly podReplacementPolicy?: string
  readonly managedBy?: string
  readonly scheduling?: JobSchedulingConfiguration
}

/** io.k8s.api.batch.v1.JobStatus */
export type JobStatus = {
  readonly conditions?: readonly JobCondition[]
  readonly startTime?: string
  readonly completionTime?: string
  readonly active?: number
  readonly succeeded?: number
  readonly failed?: number
  readonly terminating?: number
  readonly completedIndexes?: string
  readonly failedIndexes?: string
  readonly uncountedTerminatedPods?: UncountedTerminatedPods
  readonly ready?: number
}

/** io.k8s.api.batch.v1.JobTemplateSpec */
export type JobTemplateSpec = {
  readonly metadata?: ObjectMeta
  readonly spec?: JobSpec
}

/** io.k8s.api.batch.v1.PodFailurePolicy */
export type PodFailurePolicy = {
  readonly rules: readonly PodFailurePolicyRule[]
}

/** io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement */
export type PodFailurePolicyOnExitCodesRequirement = {
  readonly containerName?: string
  readonly operator: string
  readonly values: readonly number[]
}

/** io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern */
export type PodFailurePolicyOnPodConditionsPattern = {
  readonly type: string
  readonly status: string
}

/** io.k8s.api.batch.v1.PodFailurePolicyRule */
export type PodFailurePolicyRule = {
  readonly action: string
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[]
}

/** io.k8s.api.batch.v1.SuccessPolicy */
export type SuccessPolicy = {
  readonly rules: readonly SuccessPolicyRule[]
}

/** io.k8s.api.batch.v1.SuccessPolicyRule */
export type SuccessPolicyRule = {
  readonly succeededIndexes?: string
  readonly succeededCount?: number
}

/** io.k8s.api.batch.v1.UncountedTerminatedPods */
export type UncountedTerminatedPods = {
  readonly succeeded?: readonly string[]
  readonly failed?: readonly string[]
}

/** io.k8s.api.certificates.v1.CertificateSigningRequest */
export type CertificateSigningRequest = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: CertificateSigningRequestSpec
  readonly status?: CertificateSigningRequestStatus
}

/** io.k8s.api.certificates.v1.CertificateSigningRequestCondition */
export type CertificateSigningRequestCondition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastUpdateTime?: string
  readonly lastTransitionTime?: string
}

/** io.k8s.api.certificates.v1.CertificateSigningRequestList */
export type CertificateSigningRequestList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly CertificateSigningRequest[]
}

/** io.k8s.api.certificates.v1.CertificateSigningRequestSpec */
export type CertificateSigningRequestSpec = {
  readonly request: string
  readonly signerName: string
  readonly expirationSeconds?: number
  readonly usages?: readonly string[]
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
}

/** io.k8s.api.certificates.v1.CertificateSigningRequestStatus */
export type CertificateSigningRequestStatus = {
  readonly conditions?: readonly CertificateSigningRequestCondition[]
  readonly certificate?: string
}

/** io.k8s.api.certificates.v1.ClusterTrustBundle */
export type ClusterTrustBundle = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: ClusterTrustBundleSpec
}

/** io.k8s.api.certificates.v1.ClusterTrustBundleList */
export type ClusterTrustBundleList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ClusterTrustBundle[]
}

/** io.k8s.api.certificates.v1.ClusterTrustBundleSpec */
export type ClusterTrustBundleSpec = {
  readonly signerName?: string
  readonly trustBundle: string
}

/** io.k8s.api.certificates.v1.PodCertificateRequest */
export type PodCertificateRequest = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: PodCertificateRequestSpec
  readonly status?: PodCertificateRequestStatus
}

/** io.k8s.api.certificates.v1.PodCertificateRequestList */
export type PodCertificateRequestList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly PodCertificateRequest[]
}

/** io.k8s.api.certificates.v1.PodCertificateRequestSpec */
export type PodCertificateRequestSpec = {
  readonly signerName: string
  readonly podName: string
  readonly podUID: string
  readonly serviceAccountName: string
  readonly serviceAccountUID: string
  readonly nodeName: string
  readonly nodeUID: string
  readonly maxExpirationSeconds?: number
  readonly stubPKCS10Request: string
  readonly unverifiedUserAnnotations?: { readonly [key: string]: string }
}

/** io.k8s.api.certificates.v1.PodCertificateRequestStatus */
export type PodCertificateRequestStatus = {
  readonly conditions?: readonly Condition[]
  readonly certificateChain?: string
  readonly notBefore?: string
  readonly beginRefreshAt?: string
  readonly notAfter?: string
}

/** io.k8s.api.coordination.v1.Lease */
export type Lease = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: LeaseSpec
}

/** io.k8s.api.coordination.v1.LeaseList */
export type LeaseList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Lease[]
}

/** io.k8s.api.coordination.v1.LeaseSpec */
export type LeaseSpec = {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
  readonly strategy?: string
  readonly preferredHolder?: string
}

/** io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource */
export type AWSElasticBlockStoreVolumeSource = {
  readonly volumeID: string
  readonly fsType?: string
  readonly partition?: number
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.Affinity */
export type Affinity = {
  readonly nodeAffinity?: NodeAffinity
  readonly podAffinity?: PodAffinity
  readonly podAntiAffinity?: PodAntiAffinity
}

/** io.k8s.api.core.v1.AppArmorProfile */
export type AppArmorProfile = {
  readonly type: string
  readonly localhostProfile?: string
}

/** io.k8s.api.core.v1.AttachedVolume */
export type AttachedVolume = {
  readonly name: string
  readonly devicePath: string
}

/** io.k8s.api.core.v1.AzureDiskVolumeSource */
export type AzureDiskVolumeSource = {
  readonly diskName: string
  readonly diskURI: string
  readonly cachingMode?: string
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly kind?: string
}

/** io.k8s.api.core.v1.AzureFilePersistentVolumeSource */
export type AzureFilePersistentVolumeSource = {
  readonly secretName: string
  readonly shareName: string
  readonly readOnly?: boolean
  readonly secretNamespace: string
}

/** io.k8s.api.core.v1.AzureFileVolumeSource */
export type AzureFileVolumeSource = {
  readonly secretName: string
  readonly shareName: string
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.Binding */
export type Binding = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly target: ObjectReference
}

/** io.k8s.api.core.v1.CSIPersistentVolumeSource */
export type CSIPersistentVolumeSource = {
  readonly driver: string
  readonly volumeHandle: string
  readonly readOnly?: boolean
  readonly fsType?: string
  readonly volumeAttributes?: { readonly [key: string]: string }
  readonly controllerPublishSecretRef?: SecretReference
  readonly nodeStageSecretRef?: SecretReference
  readonly nodePublishSecretRef?: SecretReference
  readonly controllerExpandSecretRef?: SecretReference
  readonly nodeExpandSecretRef?: SecretReference
}

/** io.k8s.api.core.v1.CSIVolumeSource */
export type CSIVolumeSource = {
  readonly driver: string
  readonly readOnly?: boolean
  readonly fsType?: string
  readonly volumeAttributes?: { readonly [key: string]: string }
  readonly nodePublishSecretRef?: LocalObjectReference
}

/** io.k8s.api.core.v1.Capabilities */
export type Capabilities = {
  readonly add?: readonly string[]
  readonly drop?: readonly string[]
}

/** io.k8s.api.core.v1.CephFSPersistentVolumeSource */
export type CephFSPersistentVolumeSource = {
  readonly monitors: readonly string[]
  readonly path?: string
  readonly user?: string
  readonly secretFile?: string
  readonly secretRef?: SecretReference
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.CephFSVolumeSource */
export type CephFSVolumeSource = {
  readonly monitors: readonly string[]
  readonly path?: string
  readonly user?: string
  readonly secretFile?: string
  readonly secretRef?: LocalObjectReference
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.CinderPersistentVolumeSource */
export type CinderPersistentVolumeSource = {
  readonly volumeID: string
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly secretRef?: SecretReference
}

/** io.k8s.api.core.v1.CinderVolumeSource */
export type CinderVolumeSource = {
  readonly volumeID: string
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly secretRef?: LocalObjectReference
}

/** io.k8s.api.core.v1.ClientIPConfig */
export type ClientIPConfig = {
  readonly timeoutSeconds?: number
}

/** io.k8s.api.core.v1.ClusterTrustBundleProjection */
export type ClusterTrustBundleProjection = {
  readonly name?: string
  readonly signerName?: string
  readonly labelSelector?: LabelSelector
  readonly optional?: boolean
  readonly path: string
  readonly user?: number
}

/** io.k8s.api.core.v1.ComponentCondition */
export type ComponentCondition = {
  readonly type: string
  readonly status: string
  readonly message?: string
  readonly error?: string
}

/** io.k8s.api.core.v1.ComponentStatus */
export type ComponentStatus = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly conditions?: readonly ComponentCondition[]
}

/** io.k8s.api.core.v1.ComponentStatusList */
export type ComponentStatusList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ComponentStatus[]
}

/** io.k8s.api.core.v1.ConfigMap */
export type ConfigMap = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly immutable?: boolean
  readonly data?: { readonly [key: string]: string }
  readonly binaryData?: { readonly [key: string]: string }
}

/** io.k8s.api.core.v1.ConfigMapEnvSource */
export type ConfigMapEnvSource = {
  readonly name?: string
  readonly optional?: boolean
}

/** io.k8s.api.core.v1.ConfigMapKeySelector */
export type ConfigMapKeySelector = {
  readonly name?: string
  readonly key: string
  readonly optional?: boolean
}

/** io.k8s.api.core.v1.ConfigMapList */
export type ConfigMapList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ConfigMap[]
}

/** io.k8s.api.core.v1.ConfigMapNodeConfigSource */
export type ConfigMapNodeConfigSource = {
  readonly namespace: string
  readonly name: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly kubeletConfigKey: string
}

/** io.k8s.api.core.v1.ConfigMapProjection */
export type ConfigMapProjection = {
  readonly name?: string
  readonly items?: readonly KeyToPath[]
  readonly optional?: boolean
}

/** io.k8s.api.core.v1.ConfigMapVolumeSource */
export type ConfigMapVolumeSource = {
  readonly name?: string
  readonly items?: readonly KeyToPath[]
  readonly defaultMode?: number
  readonly optional?: boolean
  readonly defaultUser?: number
}

/** io.k8s.api.core.v1.Container */
export type Container = {
  readonly name: string
  readonly image?: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workingDir?: string
  readonly ports?: readonly ContainerPort[]
  readonly envFrom?: readonly EnvFromSource[]
  readonly env?: readonly EnvVar[]
  readonly resources?: ResourceRequirements
  readonly resizePolicy?: readonly ContainerResizePolicy[]
  readonly restartPolicy?: string
  readonly restartPolicyRules?: readonly ContainerRestartRule[]
  readonly volumeMounts?: readonly VolumeMount[]
  readonly volumeDevices?: readonly VolumeDevice[]
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly startupProbe?: Probe
  readonly lifecycle?: Lifecycle
  readonly terminationMessagePath?: string
  readonly terminationMessagePolicy?: string
  readonly imagePullPolicy?: string
  readonly securityContext?: SecurityContext
  readonly stdin?: boolean
  readonly stdinOnce?: boolean
  readonly tty?: boolean
}

/** io.k8s.api.core.v1.ContainerExtendedResourceRequest */
export type ContainerExtendedResourceRequest = {
  readonly containerName: string
  readonly resourceName: string
  readonly requestName: string
}

/** io.k8s.api.core.v1.ContainerImage */
export type ContainerImage = {
  readonly names: readonly string[]
  readonly sizeBytes?: number
}

/** io.k8s.api.core.v1.ContainerPort */
export type ContainerPort = {
  readonly name?: string
  readonly hostPort?: number
  readonly containerPort: number
  readonly protocol?: string
  readonly hostIP?: string
}

/** io.k8s.api.core.v1.ContainerResizePolicy */
export type ContainerResizePolicy = {
  readonly resourceName: string
  readonly restartPolicy: string
}

/** io.k8s.api.core.v1.ContainerRestartRule */
export type ContainerRestartRule = {
  readonly action?: string
  readonly exitCodes?: ContainerRestartRuleOnExitCodes
}

/** io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes */
export type ContainerRestartRuleOnExitCodes = {
  readonly operator?: string
  readonly values?: readonly number[]
}

/** io.k8s.api.core.v1.ContainerState */
export type ContainerState = {
  readonly waiting?: ContainerStateWaiting
  readonly running?: ContainerStateRunning
  readonly terminated?: ContainerStateTerminated
}

/** io.k8s.api.core.v1.ContainerStateRunning */
export type ContainerStateRunning = {
  readonly startedAt?: string
}

/** io.k8s.api.core.v1.ContainerStateTerminated */
export type ContainerStateTerminated = {
  readonly exitCode: number
  readonly signal?: number
  readonly reason?: string
  readonly message?: string
  readonly startedAt?: string
  readonly finishedAt?: string
  readonly containerID?: string
}

/** io.k8s.api.core.v1.ContainerStateWaiting */
export type ContainerStateWaiting = {
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.core.v1.ContainerStatus */
export type ContainerStatus = {
  readonly name: string
  readonly state?: ContainerState
  readonly lastState?: ContainerState
  readonly ready: boolean
  readonly restartCount: number
  readonly image: string
  readonly imageID: string
  readonly containerID?: string
  readonly started?: boolean
  readonly allocatedResources?: { readonly [key: string]: string }
  readonly resources?: ResourceRequirements
  readonly volumeMounts?: readonly VolumeMountStatus[]
  readonly user?: ContainerUser
  readonly allocatedResourcesStatus?: readonly ResourceStatus[]
  readonly stopSignal?: string
}

/** io.k8s.api.core.v1.ContainerUser */
export type ContainerUser = {
  readonly linux?: LinuxContainerUser
}

/** io.k8s.api.core.v1.DaemonEndpoint */
export type DaemonEndpoint = {
  readonly Port: number
}

/** io.k8s.api.core.v1.DownwardAPIProjection */
export type DownwardAPIProjection = {
  readonly items?: readonly DownwardAPIVolumeFile[]
}

/** io.k8s.api.core.v1.DownwardAPIVolumeFile */
export type DownwardAPIVolumeFile = {
  readonly path: string
  readonly fieldRef?: ObjectFieldSelector
  readonly resourceFieldRef?: ResourceFieldSelector
  readonly mode?: number
  readonly user?: number
}

/** io.k8s.api.core.v1.DownwardAPIVolumeSource */
export type DownwardAPIVolumeSource = {
  readonly items?: readonly DownwardAPIVolumeFile[]
  readonly defaultMode?: number
  readonly defaultUser?: number
}

/** io.k8s.api.core.v1.EmptyDirVolumeSource */
export type EmptyDirVolumeSource = {
  readonly medium?: string
  readonly sizeLimit?: string
  readonly mode?: number
}

/** io.k8s.api.core.v1.EndpointAddress */
export type EndpointAddress = {
  readonly ip: string
  readonly hostname?: string
  readonly nodeName?: string
  readonly targetRef?: ObjectReference
}

/** io.k8s.api.core.v1.EndpointPort */
export type EndpointPort = {
  readonly name?: string
  readonly port: number
  readonly protocol?: string
  readonly appProtocol?: string
}

/** io.k8s.api.core.v1.EndpointSubset */
export type EndpointSubset = {
  readonly addresses?: readonly EndpointAddress[]
  readonly notReadyAddresses?: readonly EndpointAddress[]
  readonly ports?: readonly EndpointPort[]
}

/** io.k8s.api.core.v1.Endpoints */
export type Endpoints = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly subsets?: readonly EndpointSubset[]
}

/** io.k8s.api.core.v1.EndpointsList */
export type EndpointsList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Endpoints[]
}

/** io.k8s.api.core.v1.EnvFromSource */
export type EnvFromSource = {
  readonly prefix?: string
  readonly configMapRef?: ConfigMapEnvSource
  readonly secretRef?: SecretEnvSource
}

/** io.k8s.api.core.v1.EnvVar */
export type EnvVar = {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: EnvVarSource
}

/** io.k8s.api.core.v1.EnvVarSource */
export type EnvVarSource = {
  readonly fieldRef?: ObjectFieldSelector
  readonly resourceFieldRef?: ResourceFieldSelector
  readonly configMapKeyRef?: ConfigMapKeySelector
  readonly secretKeyRef?: SecretKeySelector
  readonly fileKeyRef?: FileKeySelector
}

/** io.k8s.api.core.v1.EphemeralContainer */
export type EphemeralContainer = {
  readonly name: string
  readonly image?: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workingDir?: string
  readonly ports?: readonly ContainerPort[]
  readonly envFrom?: readonly EnvFromSource[]
  readonly env?: readonly EnvVar[]
  readonly resources?: ResourceRequirements
  readonly resizePolicy?: readonly ContainerResizePolicy[]
  readonly restartPolicy?: string
  readonly restartPolicyRules?: readonly ContainerRestartRule[]
  readonly volumeMounts?: readonly VolumeMount[]
  readonly volumeDevices?: readonly VolumeDevice[]
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly startupProbe?: Probe
  readonly lifecycle?: Lifecycle
  readonly terminationMessagePath?: string
  readonly terminationMessagePolicy?: string
  readonly imagePullPolicy?: string
  readonly securityContext?: SecurityContext
  readonly stdin?: boolean
  readonly stdinOnce?: boolean
  readonly tty?: boolean
  readonly targetContainerName?: string
}

/** io.k8s.api.core.v1.EphemeralVolumeSource */
export type EphemeralVolumeSource = {
  readonly volumeClaimTemplate?: PersistentVolumeClaimTemplate
}

/** io.k8s.api.core.v1.Event */
export type Event = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly involvedObject: ObjectReference
  readonly reason?: string
  readonly message?: string
  readonly source?: EventSource
  readonly firstTimestamp?: string
  readonly lastTimestamp?: string
  readonly count?: number
  readonly type?: string
  readonly eventTime?: string
  readonly series?: EventSeries
  readonly action?: string
  readonly related?: ObjectReference
  readonly reportingComponent: string
  readonly reportingInstance: string
}

/** io.k8s.api.core.v1.EventList */
export type EventList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Event[]
}

/** io.k8s.api.core.v1.EventSeries */
export type EventSeries = {
  readonly count?: number
  readonly lastObservedTime?: string
}

/** io.k8s.api.core.v1.EventSource */
export type EventSource = {
  readonly component?: string
  readonly host?: string
}

/** io.k8s.api.core.v1.EvictionResponder */
export type EvictionResponder = {
  readonly name: string
  readonly priority: number
}

/** io.k8s.api.core.v1.ExecAction */
export type ExecAction = {
  readonly command?: readonly string[]
}

/** io.k8s.api.core.v1.FCVolumeSource */
export type FCVolumeSource = {
  readonly targetWWNs?: readonly string[]
  readonly lun?: number
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly wwids?: readonly string[]
}

/** io.k8s.api.core.v1.FileKeySelector */
export type FileKeySelector = {
  readonly volumeName: string
  readonly path: string
  readonly key: string
  readonly optional?: boolean
}

/** io.k8s.api.core.v1.FlexPersistentVolumeSource */
export type FlexPersistentVolumeSource = {
  readonly driver: string
  readonly fsType?: string
  readonly secretRef?: SecretReference
  readonly readOnly?: boolean
  readonly options?: { readonly [key: string]: string }
}

/** io.k8s.api.core.v1.FlexVolumeSource */
export type FlexVolumeSource = {
  readonly driver: string
  readonly fsType?: string
  readonly secretRef?: LocalObjectReference
  readonly readOnly?: boolean
  readonly options?: { readonly [key: string]: string }
}

/** io.k8s.api.core.v1.FlockerVolumeSource */
export type FlockerVolumeSource = {
  readonly datasetName?: string
  readonly datasetUUID?: string
}

/** io.k8s.api.core.v1.GCEPersistentDiskVolumeSource */
export type GCEPersistentDiskVolumeSource = {
  readonly pdName: string
  readonly fsType?: string
  readonly partition?: number
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.GRPCAction */
export type GRPCAction = {
  readonly port: number
  readonly service: string
  readonly mode?: string
}

/** io.k8s.api.core.v1.GitRepoVolumeSource */
export type GitRepoVolumeSource = {
  readonly repository: string
  readonly revision?: string
  readonly directory?: string
}

/** io.k8s.api.core.v1.GlusterfsPersistentVolumeSource */
export type GlusterfsPersistentVolumeSource = {
  readonly endpoints: string
  readonly path: string
  readonly readOnly?: boolean
  readonly endpointsNamespace?: string
}

/** io.k8s.api.core.v1.GlusterfsVolumeSource */
export type GlusterfsVolumeSource = {
  readonly endpoints: string
  readonly path: string
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.HTTPGetAction */
export type HTTPGetAction = {
  readonly path?: string
  readonly port: number | string
  readonly host?: string
  readonly scheme?: string
  readonly httpHeaders?: readonly HTTPHeader[]
  readonly protocol?: string
}

/** io.k8s.api.core.v1.HTTPHeader */
export type HTTPHeader = {
  readonly name: string
  readonly value: string
}

/** io.k8s.api.core.v1.HostAlias */
export type HostAlias = {
  readonly ip: string
  readonly hostnames?: readonly string[]
}

/** io.k8s.api.core.v1.HostIP */
export type HostIP = {
  readonly ip: string
}

/** io.k8s.api.core.v1.HostPathVolumeSource */
export type HostPathVolumeSource = {
  readonly path: string
  readonly type?: string
}

/** io.k8s.api.core.v1.ISCSIPersistentVolumeSource */
export type ISCSIPersistentVolumeSource = {
  readonly targetPortal: string
  readonly iqn: string
  readonly lun: number
  readonly iscsiInterface?: string
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly portals?: readonly string[]
  readonly chapAuthDiscovery?: boolean
  readonly chapAuthSession?: boolean
  readonly secretRef?: SecretReference
  readonly initiatorName?: string
}

/** io.k8s.api.core.v1.ISCSIVolumeSource */
export type ISCSIVolumeSource = {
  readonly targetPortal: string
  readonly iqn: string
  readonly lun: number
  readonly iscsiInterface?: string
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly portals?: readonly string[]
  readonly chapAuthDiscovery?: boolean
  readonly chapAuthSession?: boolean
  readonly secretRef?: LocalObjectReference
  readonly initiatorName?: string
}

/** io.k8s.api.core.v1.ImageVolumeSource */
export type ImageVolumeSource = {
  readonly reference?: string
  readonly pullPolicy?: string
}

/** io.k8s.api.core.v1.ImageVolumeStatus */
export type ImageVolumeStatus = {
  readonly imageRef?: string
}

/** io.k8s.api.core.v1.KeyToPath */
export type KeyToPath = {
  readonly key: string
  readonly path: string
  readonly mode?: number
  readonly user?: number
}

/** io.k8s.api.core.v1.Lifecycle */
export type Lifecycle = {
  readonly postStart?: LifecycleHandler
  readonly preStop?: LifecycleHandler
  readonly stopSignal?: string
}

/** io.k8s.api.core.v1.LifecycleHandler */
export type LifecycleHandler = {
  readonly exec?: ExecAction
  readonly httpGet?: HTTPGetAction
  readonly tcpSocket?: TCPSocketAction
  readonly sleep?: SleepAction
}

/** io.k8s.api.core.v1.LimitRange */
export type LimitRange = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: LimitRangeSpec
}

/** io.k8s.api.core.v1.LimitRangeItem */
export type LimitRangeItem = {
  readonly type: string
  readonly max?: { readonly [key: string]: string }
  readonly min?: { readonly [key: string]: string }
  readonly default?: { readonly [key: string]: string }
  readonly defaultRequest?: { readonly [key: string]: string }
  readonly maxLimitRequestRatio?: { readonly [key: string]: string }
}

/** io.k8s.api.core.v1.LimitRangeList */
export type LimitRangeList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly LimitRange[]
}

/** io.k8s.api.core.v1.LimitRangeSpec */
export type LimitRangeSpec = {
  readonly limits: readonly LimitRangeItem[]
}

/** io.k8s.api.core.v1.LinuxContainerUser */
export type LinuxContainerUser = {
  readonly uid: number
  readonly gid: number
  readonly supplementalGroups?: readonly number[]
}

/** io.k8s.api.core.v1.List */
export type List = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Json[]
}

/** io.k8s.api.core.v1.LoadBalancerIngress */
export type LoadBalancerIngress = {
  readonly ip?: string
  readonly hostname?: string
  readonly ipMode?: string
  readonly ports?: readonly PortStatus[]
}

/** io.k8s.api.core.v1.LoadBalancerStatus */
export type LoadBalancerStatus = {
  readonly ingress?: readonly LoadBalancerIngress[]
}

/** io.k8s.api.core.v1.LocalObjectReference */
export type LocalObjectReference = {
  readonly name?: string
}

/** io.k8s.api.core.v1.LocalVolumeSource */
export type LocalVolumeSource = {
  readonly path: string
  readonly fsType?: string
}

/** io.k8s.api.core.v1.ModifyVolumeStatus */
export type ModifyVolumeStatus = {
  readonly targetVolumeAttributesClassName?: string
  readonly status: string
}

/** io.k8s.api.core.v1.NFSVolumeSource */
export type NFSVolumeSource = {
  readonly server: string
  readonly path: string
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.Namespace */
export type Namespace = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: NamespaceSpec
  readonly status?: NamespaceStatus
}

/** io.k8s.api.core.v1.NamespaceCondition */
export type NamespaceCondition = {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.core.v1.NamespaceList */
export type NamespaceList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Namespace[]
}

/** io.k8s.api.core.v1.NamespaceSpec */
export type NamespaceSpec = {
  readonly finalizers?: readonly string[]
}

/** io.k8s.api.core.v1.NamespaceStatus */
export type NamespaceStatus = {
  readonly phase?: string
  readonly conditions?: readonly NamespaceCondition[]
}

/** io.k8s.api.core.v1.Node */
export type Node = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: NodeSpec
  readonly status?: NodeStatus
}

/** io.k8s.api.core.v1.NodeAddress */
export type NodeAddress = {
  readonly type: string
  readonly address: string
}

/** io.k8s.api.core.v1.NodeAffinity */
export type NodeAffinity = {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[]
}

/** io.k8s.api.core.v1.NodeAllocatableMappedResources */
export type NodeAllocatableMappedResources = {
  readonly name: string
  readonly quantity: string
}

/** io.k8s.api.core.v1.NodeAllocatableOverheadResources */
export type NodeAllocatableOverheadResources = {
  readonly name: string
  readonly perPod?: string
  readonly perContainer?: string
}

/** io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus */
export type NodeAllocatableResourceClaimStatus = {
  readonly resourceClaimName: string
  readonly containers?: readonly string[]
  readonly mapping?: readonly NodeAllocatableMappedResources[]
  readonly overhead?: readonly NodeAllocatableOverheadResources[]
}

/** io.k8s.api.core.v1.NodeCondition */
export type NodeCondition = {
  readonly type: string
  readonly status: string
  readonly lastHeartbeatTime?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.core.v1.NodeConfigSource */
export type NodeConfigSource = {
  readonly configMap?: ConfigMapNodeConfigSource
}

/** io.k8s.api.core.v1.NodeConfigStatus */
export type NodeConfigStatus = {
  readonly assigned?: NodeConfigSource
  readonly active?: NodeConfigSource
  readonly lastKnownGood?: NodeConfigSource
  readonly error?: string
}

/** io.k8s.api.core.v1.NodeDaemonEndpoints */
export type NodeDaemonEndpoints = {
  readonly kubeletEndpoint?: DaemonEndpoint
}

/** io.k8s.api.core.v1.NodeFeatures */
export type NodeFeatures = {
  readonly supplementalGroupsPolicy?: boolean
}

/** io.k8s.api.core.v1.NodeList */
export type NodeList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Node[]
}

/** io.k8s.api.core.v1.NodePodPreemptionPolicy */
export type NodePodPreemptionPolicy = {
  readonly disableResizePreemption?: readonly string[]
}

/** io.k8s.api.core.v1.NodeProxyOptions */
export type NodeProxyOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly path?: string
}

/** io.k8s.api.core.v1.NodeRuntimeHandler */
export type NodeRuntimeHandler = {
  readonly name: string
  readonly features?: NodeRuntimeHandlerFeatures
}

/** io.k8s.api.core.v1.NodeRuntimeHandlerFeatures */
export type NodeRuntimeHandlerFeatures = {
  readonly recursiveReadOnlyMounts?: boolean
  readonly userNamespaces?: boolean
}

/** io.k8s.api.core.v1.NodeSelector */
export type NodeSelector = {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[]
}

/** io.k8s.api.core.v1.NodeSelectorRequirement */
export type NodeSelectorRequirement = {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** io.k8s.api.core.v1.NodeSelectorTerm */
export type NodeSelectorTerm = {
  readonly matchExpressions?: readonly NodeSelectorRequirement[]
  readonly matchFields?: readonly NodeSelectorRequirement[]
}

/** io.k8s.api.core.v1.NodeSpec */
export type NodeSpec = {
  readonly podCIDR?: string
  readonly podCIDRs?: readonly string[]
  readonly providerID?: string
  readonly unschedulable?: boolean
  readonly taints?: readonly Taint[]
  readonly configSource?: NodeConfigSource
  readonly externalID?: string
  readonly podPreemptionPolicy?: NodePodPreemptionPolicy
}

/** io.k8s.api.core.v1.NodeStatus */
export type NodeStatus = {
  readonly capacity?: { readonly [key: string]: string }
  readonly allocatable?: { readonly [key: string]: string }
  readonly phase?: string
  readonly conditions?: readonly NodeCondition[]
  readonly addresses?: readonly NodeAddress[]
  readonly daemonEndpoints?: NodeDaemonEndpoints
  readonly nodeInfo?: NodeSystemInfo
  readonly images?: readonly ContainerImage[]
  readonly volumesInUse?: readonly string[]
  readonly volumesAttached?: readonly AttachedVolume[]
  readonly config?: NodeConfigStatus
  readonly runtimeHandlers?: readonly NodeRuntimeHandler[]
  readonly features?: NodeFeatures
  readonly declaredFeatures?: readonly string[]
}

/** io.k8s.api.core.v1.NodeSwapStatus */
export type NodeSwapStatus = {
  readonly capacity?: number
}

/** io.k8s.api.core.v1.NodeSystemInfo */
export type NodeSystemInfo = {
  readonly machineID: string
  readonly systemUUID: string
  readonly bootID: string
  readonly kernelVersion: string
  readonly osImage: string
  readonly containerRuntimeVersion: string
  readonly kubeletVersion: string
  readonly kubeProxyVersion: string
  readonly operatingSystem: string
  readonly architecture: string
  readonly swap?: NodeSwapStatus
  readonly runningInUserNamespace?: boolean
}

/** io.k8s.api.core.v1.ObjectFieldSelector */
export type ObjectFieldSelector = {
  readonly apiVersion?: string
  readonly fieldPath: string
}

/** io.k8s.api.core.v1.ObjectReference */
export type ObjectReference = {
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly apiVersion?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

/** io.k8s.api.core.v1.PersistentVolume */
export type PersistentVolume = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: PersistentVolumeSpec
  readonly status?: PersistentVolumeStatus
}

/** io.k8s.api.core.v1.PersistentVolumeClaim */
export type PersistentVolumeClaim = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: PersistentVolumeClaimSpec
  readonly status?: PersistentVolumeClaimStatus
}

/** io.k8s.api.core.v1.PersistentVolumeClaimCondition */
export type PersistentVolumeClaimCondition = {
  readonly type: string
  readonly status: string
  readonly lastProbeTime?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.core.v1.PersistentVolumeClaimList */
export type PersistentVolumeClaimList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly PersistentVolumeClaim[]
}

/** io.k8s.api.core.v1.PersistentVolumeClaimSpec */
export type PersistentVolumeClaimSpec = {
  readonly accessModes?: readonly string[]
  readonly selector?: LabelSelector
  readonly resources?: VolumeResourceRequirements
  readonly volumeName?: string
  readonly storageClassName?: string
  readonly volumeMode?: string
  readonly dataSource?: TypedLocalObjectReference
  readonly dataSourceRef?: TypedObjectReference
  readonly volumeAttributesClassName?: string
}

/** io.k8s.api.core.v1.PersistentVolumeClaimStatus */
export type PersistentVolumeClaimStatus = {
  readonly phase?: string
  readonly accessModes?: readonly string[]
  readonly capacity?: { readonly [key: string]: string }
  readonly conditions?: readonly PersistentVolumeClaimCondition[]
  readonly allocatedResources?: { readonly [key: string]: string }
  readonly allocatedResourceStatuses?: { readonly [key: string]: string }
  readonly currentVolumeAttributesClassName?: string
  readonly modifyVolumeStatus?: ModifyVolumeStatus
  readonly healthStatus?: VolumeHealthStatus
}

/** io.k8s.api.core.v1.PersistentVolumeClaimTemplate */
export type PersistentVolumeClaimTemplate = {
  readonly metadata?: ObjectMeta
  readonly spec: PersistentVolumeClaimSpec
}

/** io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource */
export type PersistentVolumeClaimVolumeSource = {
  readonly claimName: string
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.PersistentVolumeList */
export type PersistentVolumeList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly PersistentVolume[]
}

/** io.k8s.api.core.v1.PersistentVolumeSpec */
export type PersistentVolumeSpec = {
  readonly capacity?: { readonly [key: string]: string }
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource
  readonly hostPath?: HostPathVolumeSource
  readonly glusterfs?: GlusterfsPersistentVolumeSource
  readonly nfs?: NFSVolumeSource
  readonly rbd?: RBDPersistentVolumeSource
  readonly iscsi?: ISCSIPersistentVolumeSource
  readonly cinder?: CinderPersistentVolumeSource
  readonly cephfs?: CephFSPersistentVolumeSource
  readonly fc?: FCVolumeSource
  readonly flocker?: FlockerVolumeSource
  readonly flexVolume?: FlexPersistentVolumeSource
  readonly azureFile?: AzureFilePersistentVolumeSource
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource
  readonly quobyte?: QuobyteVolumeSource
  readonly azureDisk?: AzureDiskVolumeSource
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource
  readonly portworxVolume?: PortworxVolumeSource
  readonly scaleIO?: ScaleIOPersistentVolumeSource
  readonly local?: LocalVolumeSource
  readonly storageos?: StorageOSPersistentVolumeSource
  readonly csi?: CSIPersistentVolumeSource
  readonly accessModes?: readonly string[]
  readonly claimRef?: ObjectReference
  readonly persistentVolumeReclaimPolicy?: string
  readonly storageClassName?: string
  readonly mountOptions?: readonly string[]
  readonly volumeMode?: string
  readonly nodeAffinity?: VolumeNodeAffinity
  readonly volumeAttributesClassName?: string
}

/** io.k8s.api.core.v1.PersistentVolumeStatus */
export type PersistentVolumeStatus = {
  readonly phase?: string
  readonly message?: string
  readonly reason?: string
  readonly lastPhaseTransitionTime?: string
}

/** io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource */
export type PhotonPersistentDiskVolumeSource = {
  readonly pdID: string
  readonly fsType?: string
}

/** io.k8s.api.core.v1.Pod */
export type Pod = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: PodSpec
  readonly status?: PodStatus
}

/** io.k8s.api.core.v1.PodAffinity */
export type PodAffinity = {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[]
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[]
}

/** io.k8s.api.core.v1.PodAffinityTerm */
export type PodAffinityTerm = {
  readonly labelSelector?: LabelSelector
  readonly namespaces?: readonly string[]
  readonly topologyKey: string
  readonly namespaceSelector?: LabelSelector
  readonly matchLabelKeys?: readonly string[]
  readonly mismatchLabelKeys?: readonly string[]
}

/** io.k8s.api.core.v1.PodAntiAffinity */
export type PodAntiAffinity = {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[]
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[]
}

/** io.k8s.api.core.v1.PodAttachOptions */
export type PodAttachOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly stdin?: boolean
  readonly stdout?: boolean
  readonly stderr?: boolean
  readonly tty?: boolean
  readonly container?: string
}

/** io.k8s.api.core.v1.PodCertificateProjection */
export type PodCertificateProjection = {
  readonly signerName?: string
  readonly keyType?: string
  readonly maxExpirationSeconds?: number
  readonly credentialBundlePath?: string
  readonly keyPath?: string
  readonly certificateChainPath?: string
  readonly userAnnotations?: { readonly [key: string]: string }
  readonly user?: number
}

/** io.k8s.api.core.v1.PodCondition */
export type PodCondition = {
  readonly type: string
  readonly observedGeneration?: number
  readonly status: string
  readonly lastProbeTime?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.core.v1.PodDNSConfig */
export type PodDNSConfig = {
  readonly nameservers?: readonly string[]
  readonly searches?: readonly string[]
  readonly options?: readonly PodDNSConfigOption[]
}

/** io.k8s.api.core.v1.PodDNSConfigOption */
export type PodDNSConfigOption = {
  readonly name?: string
  readonly value?: string
}

/** io.k8s.api.core.v1.PodExecOptions */
export type PodExecOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly stdin?: boolean
  readonly stdout?: boolean
  readonly stderr?: boolean
  readonly tty?: boolean
  readonly container?: string
  readonly command: readonly string[]
}

/** io.k8s.api.core.v1.PodExtendedResourceClaimStatus */
export type PodExtendedResourceClaimStatus = {
  readonly requestMappings: readonly ContainerExtendedResourceRequest[]
  readonly resourceClaimName: string
}

/** io.k8s.api.core.v1.PodIP */
export type PodIP = {
  readonly ip: string
}

/** io.k8s.api.core.v1.PodList */
export type PodList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Pod[]
}

/** io.k8s.api.core.v1.PodLogOptions */
export type PodLogOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly container?: string
  readonly follow?: boolean
  readonly previous?: boolean
  readonly sinceSeconds?: number
  readonly sinceTime?: string
  readonly timestamps?: boolean
  readonly tailLines?: number
  readonly limitBytes?: number
  readonly insecureSkipTLSVerifyBackend?: boolean
  readonly stream?: string
}

/** io.k8s.api.core.v1.PodOS */
export type PodOS = {
  readonly name: string
}

/** io.k8s.api.core.v1.PodPortForwardOptions */
export type PodPortForwardOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly ports?: readonly number[]
}

/** io.k8s.api.core.v1.PodProxyOptions */
export type PodProxyOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly path?: string
}

/** io.k8s.api.core.v1.PodReadinessGate */
export type PodReadinessGate = {
  readonly conditionType: string
}

/** io.k8s.api.core.v1.PodResourceClaim */
export type PodResourceClaim = {
  readonly name: string
  readonly resourceClaimName?: string
  readonly resourceClaimTemplateName?: string
}

/** io.k8s.api.core.v1.PodResourceClaimStatus */
export type PodResourceClaimStatus = {
  readonly name: string
  readonly resourceClaimName?: string
}

/** io.k8s.api.core.v1.PodSchedulingGate */
export type PodSchedulingGate = {
  readonly name: string
}

/** io.k8s.api.core.v1.PodSchedulingGroup */
export type PodSchedulingGroup = {
  readonly podGroupName?: string
}

/** io.k8s.api.core.v1.PodSecurityContext */
export type PodSecurityContext = {
  readonly seLinuxOptions?: SELinuxOptions
  readonly windowsOptions?: WindowsSecurityContextOptions
  readonly runAsUser?: number
  readonly runAsGroup?: number
  readonly runAsNonRoot?: boolean
  readonly supplementalGroups?: readonly number[]
  readonly supplementalGroupsPolicy?: string
  readonly fsGroup?: number
  readonly sysctls?: readonly Sysctl[]
  readonly fsGroupChangePolicy?: string
  readonly seccompProfile?: SeccompProfile
  readonly appArmorProfile?: AppArmorProfile
  readonly seLinuxChangePolicy?: string
}

/** io.k8s.api.core.v1.PodSpec */
export type PodSpec = {
  readonly volumes?: readonly Volume[]
  readonly initContainers?: readonly Container[]
  readonly containers: readonly Container[]
  readonly ephemeralContainers?: readonly EphemeralContainer[]
  readonly restartPolicy?: string
  readonly terminationGracePeriodSeconds?: number
  readonly activeDeadlineSeconds?: number
  readonly dnsPolicy?: string
  readonly nodeSelector?: { readonly [key: string]: string }
  readonly serviceAccountName?: string
  readonly serviceAccount?: string
  readonly automountServiceAccountToken?: boolean
  readonly nodeName?: string
  readonly hostNetwork?: boolean
  readonly hostPID?: boolean
  readonly hostIPC?: boolean
  readonly shareProcessNamespace?: boolean
  readonly securityContext?: PodSecurityContext
  readonly imagePullSecrets?: readonly LocalObjectReference[]
  readonly hostname?: string
  readonly subdomain?: string
  readonly affinity?: Affinity
  readonly schedulerName?: string
  readonly tolerations?: readonly Toleration[]
  readonly hostAliases?: readonly HostAlias[]
  readonly priorityClassName?: string
  readonly priority?: number
  readonly dnsConfig?: PodDNSConfig
  readonly readinessGates?: readonly PodReadinessGate[]
  readonly runtimeClassName?: string
  readonly enableServiceLinks?: boolean
  readonly preemptionPolicy?: string
  readonly overhead?: { readonly [key: string]: string }
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[]
  readonly setHostnameAsFQDN?: boolean
  readonly os?: PodOS
  readonly hostUsers?: boolean
  readonly schedulingGates?: readonly PodSchedulingGate[]
  readonly resourceClaims?: readonly PodResourceClaim[]
  readonly resources?: ResourceRequirements
  readonly hostnameOverride?: string
  readonly schedulingGroup?: PodSchedulingGroup
  readonly evictionResponders?: readonly EvictionResponder[]
}

/** io.k8s.api.core.v1.PodStatus */
export type PodStatus = {
  readonly observedGeneration?: number
  readonly phase?: string
  readonly conditions?: readonly PodCondition[]
  readonly message?: string
  readonly reason?: string
  readonly nominatedNodeName?: string
  readonly hostIP?: string
  readonly hostIPs?: readonly HostIP[]
  readonly podIP?: string
  readonly podIPs?: readonly PodIP[]
  readonly startTime?: string
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly containerStatuses?: readonly ContainerStatus[]
  readonly qosClass?: string
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[]
  readonly resize?: string
  readonly resourceClaimStatuses?: readonly PodResourceClaimStatus[]
  readonly extendedResourceClaimStatus?: PodExtendedResourceClaimStatus
  readonly allocatedResources?: { readonly [key: string]: string }
  readonly resources?: ResourceRequirements
  readonly nodeAllocatableResourceClaimStatuses?: readonly NodeAllocatableResourceClaimStatus[]
  readonly volumeHealth?: readonly PodVolumeHealth[]
}

/** io.k8s.api.core.v1.PodTemplate */
export type PodTemplate = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly template?: PodTemplateSpec
}

/** io.k8s.api.core.v1.PodTemplateList */
export type PodTemplateList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly PodTemplate[]
}

/** io.k8s.api.core.v1.PodTemplateSpec */
export type PodTemplateSpec = {
  readonly metadata?: ObjectMeta
  readonly spec?: PodSpec
}

/** io.k8s.api.core.v1.PodVolumeHealth */
export type PodVolumeHealth = {
  readonly name: string
  readonly healthConditions?: readonly VolumeHealthCondition[]
  readonly lastTransitionTime?: string
}

/** io.k8s.api.core.v1.PortStatus */
export type PortStatus = {
  readonly port: number
  readonly protocol: string
  readonly error?: string
}

/** io.k8s.api.core.v1.PortworxVolumeSource */
export type PortworxVolumeSource = {
  readonly volumeID: string
  readonly fsType?: string
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.PreferredSchedulingTerm */
export type PreferredSchedulingTerm = {
  readonly weight: number
  readonly preference: NodeSelectorTerm
}

/** io.k8s.api.core.v1.Probe */
export type Probe = {
  readonly exec?: ExecAction
  readonly httpGet?: HTTPGetAction
  readonly tcpSocket?: TCPSocketAction
  readonly grpc?: GRPCAction
  readonly initialDelaySeconds?: number
  readonly timeoutSeconds?: number
  readonly periodSeconds?: number
  readonly successThreshold?: number
  readonly failureThreshold?: number
  readonly terminationGracePeriodSeconds?: number
}

/** io.k8s.api.core.v1.ProjectedVolumeSource */
export type ProjectedVolumeSource = {
  readonly sources: readonly VolumeProjection[]
  readonly defaultMode?: number
  readonly defaultUser?: number
}

/** io.k8s.api.core.v1.QuobyteVolumeSource */
export type QuobyteVolumeSource = {
  readonly registry: string
  readonly volume: string
  readonly readOnly?: boolean
  readonly user?: string
  readonly group?: string
  readonly tenant?: string
}

/** io.k8s.api.core.v1.RBDPersistentVolumeSource */
export type RBDPersistentVolumeSource = {
  readonly monitors: readonly string[]
  readonly image: string
  readonly fsType?: string
  readonly pool?: string
  readonly user?: string
  readonly keyring?: string
  readonly secretRef?: SecretReference
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.RBDVolumeSource */
export type RBDVolumeSource = {
  readonly monitors: readonly string[]
  readonly image: string
  readonly fsType?: string
  readonly pool?: string
  readonly user?: string
  readonly keyring?: string
  readonly secretRef?: LocalObjectReference
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.RangeAllocation */
export type RangeAllocation = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly range: string
  readonly data: string
}

/** io.k8s.api.core.v1.ReplicationController */
export type ReplicationController = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: ReplicationControllerSpec
  readonly status?: ReplicationControllerStatus
}

/** io.k8s.api.core.v1.ReplicationControllerCondition */
export type ReplicationControllerCondition = {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.core.v1.ReplicationControllerList */
export type ReplicationControllerList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ReplicationController[]
}

/** io.k8s.api.core.v1.ReplicationControllerSpec */
export type ReplicationControllerSpec = {
  readonly replicas?: number
  readonly minReadySeconds?: number
  readonly selector?: { readonly [key: string]: string }
  readonly template?: PodTemplateSpec
}

/** io.k8s.api.core.v1.ReplicationControllerStatus */
export type ReplicationControllerStatus = {
  readonly replicas: number
  readonly fullyLabeledReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly observedGeneration?: number
  readonly conditions?: readonly ReplicationControllerCondition[]
}

/** io.k8s.api.core.v1.ResourceClaim */
export type ResourceClaim = {
  readonly name: string
  readonly request?: string
}

/** io.k8s.api.core.v1.ResourceFieldSelector */
export type ResourceFieldSelector = {
  readonly containerName?: string
  readonly resource: string
  readonly divisor?: string
}

/** io.k8s.api.core.v1.ResourceHealth */
export type ResourceHealth = {
  readonly resourceID: string
  readonly health?: string
  readonly message?: string
}

/** io.k8s.api.core.v1.ResourceQuota */
export type ResourceQuota = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: ResourceQuotaSpec
  readonly status?: ResourceQuotaStatus
}

/** io.k8s.api.core.v1.ResourceQuotaList */
export type ResourceQuotaList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ResourceQuota[]
}

/** io.k8s.api.core.v1.ResourceQuotaSpec */
export type ResourceQuotaSpec = {
  readonly hard?: { readonly [key: string]: string }
  readonly scopes?: readonly string[]
  readonly scopeSelector?: ScopeSelector
}

/** io.k8s.api.core.v1.ResourceQuotaStatus */
export type ResourceQuotaStatus = {
  readonly hard?: { readonly [key: string]: string }
  readonly used?: { readonly [key: string]: string }
}

/** io.k8s.api.core.v1.ResourceRequirements */
export type ResourceRequirements = {
  readonly limits?: { readonly [key: string]: string }
  readonly requests?: { readonly [key: string]: string }
  readonly claims?: readonly ResourceClaim[]
}

/** io.k8s.api.core.v1.ResourceStatus */
export type ResourceStatus = {
  readonly name: string
  readonly resources?: readonly ResourceHealth[]
}

/** io.k8s.api.core.v1.SELinuxOptions */
export type SELinuxOptions = {
  readonly user?: string
  readonly role?: string
  readonly type?: string
  readonly level?: string
}

/** io.k8s.api.core.v1.ScaleIOPersistentVolumeSource */
export type ScaleIOPersistentVolumeSource = {
  readonly gateway: string
  readonly system: string
  readonly secretRef: SecretReference
  readonly sslEnabled?: boolean
  readonly protectionDomain?: string
  readonly storagePool?: string
  readonly storageMode?: string
  readonly volumeName?: string
  readonly fsType?: string
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.ScaleIOVolumeSource */
export type ScaleIOVolumeSource = {
  readonly gateway: string
  readonly system: string
  readonly secretRef: LocalObjectReference
  readonly sslEnabled?: boolean
  readonly protectionDomain?: string
  readonly storagePool?: string
  readonly storageMode?: string
  readonly volumeName?: string
  readonly fsType?: string
  readonly readOnly?: boolean
}

/** io.k8s.api.core.v1.ScopeSelector */
export type ScopeSelector = {
  readonly matchExpressions?: readonly ScopedResourceSelectorRequirement[]
}

/** io.k8s.api.core.v1.ScopedResourceSelectorRequirement */
export type ScopedResourceSelectorRequirement = {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** io.k8s.api.core.v1.SeccompProfile */
export type SeccompProfile = {
  readonly type: string
  readonly localhostProfile?: string
}

/** io.k8s.api.core.v1.Secret */
export type Secret = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly immutable?: boolean
  readonly data?: { readonly [key: string]: string }
  readonly stringData?: { readonly [key: string]: string }
  readonly type?: string
}

/** io.k8s.api.core.v1.SecretEnvSource */
export type SecretEnvSource = {
  readonly name?: string
  readonly optional?: boolean
}

/** io.k8s.api.core.v1.SecretKeySelector */
export type SecretKeySelector = {
  readonly name?: string
  readonly key: string
  readonly optional?: boolean
}

/** io.k8s.api.core.v1.SecretList */
export type SecretList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Secret[]
}

/** io.k8s.api.core.v1.SecretProjection */
export type SecretProjection = {
  readonly name?: string
  readonly items?: readonly KeyToPath[]
  readonly optional?: boolean
}

/** io.k8s.api.core.v1.SecretReference */
export type SecretReference = {
  readonly name?: string
  readonly namespace?: string
}

/** io.k8s.api.core.v1.SecretVolumeSource */
export type SecretVolumeSource = {
  readonly secretName?: string
  readonly items?: readonly KeyToPath[]
  readonly defaultMode?: number
  readonly optional?: boolean
  readonly defaultUser?: number
}

/** io.k8s.api.core.v1.SecurityContext */
export type SecurityContext = {
  readonly capabilities?: Capabilities
  readonly privileged?: boolean
  readonly seLinuxOptions?: SELinuxOptions
  readonly windowsOptions?: WindowsSecurityContextOptions
  readonly runAsUser?: number
  readonly runAsGroup?: number
  readonly runAsNonRoot?: boolean
  readonly readOnlyRootFilesystem?: boolean
  readonly allowPrivilegeEscalation?: boolean
  readonly procMount?: string
  readonly seccompProfile?: SeccompProfile
  readonly appArmorProfile?: AppArmorProfile
}

/** io.k8s.api.core.v1.SerializedReference */
export type SerializedReference = {
  readonly kind: string
  readonly apiVersion: string
  readonly reference?: ObjectReference
}

/** io.k8s.api.core.v1.Service */
export type Service = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: ServiceSpec
  readonly status?: ServiceStatus
}

/** io.k8s.api.core.v1.ServiceAccount */
export type ServiceAccount = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly secrets?: readonly ObjectReference[]
  readonly imagePullSecrets?: readonly LocalObjectReference[]
  readonly automountServiceAccountToken?: boolean
}

/** io.k8s.api.core.v1.ServiceAccountList */
export type ServiceAccountList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ServiceAccount[]
}

/** io.k8s.api.core.v1.ServiceAccountTokenProjection */
export type ServiceAccountTokenProjection = {
  readonly audience?: string
  readonly expirationSeconds?: number
  readonly path: string
  readonly user?: number
}

/** io.k8s.api.core.v1.ServiceList */
export type ServiceList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Service[]
}

/** io.k8s.api.core.v1.ServicePort */
export type ServicePort = {
  readonly name?: string
  readonly protocol?: string
  readonly appProtocol?: string
  readonly port: number
  readonly targetPort?: number | string
  readonly nodePort?: number
}

/** io.k8s.api.core.v1.ServiceProxyOptions */
export type ServiceProxyOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly path?: string
}

/** io.k8s.api.core.v1.ServiceSpec */
export type ServiceSpec = {
  readonly ports?: readonly ServicePort[]
  readonly selector?: { readonly [key: string]: string }
  readonly clusterIP?: string
  readonly clusterIPs?: readonly string[]
  readonly type?: string
  readonly externalIPs?: readonly string[]
  readonly sessionAffinity?: string
  readonly loadBalancerIP?: string
  readonly loadBalancerSourceRanges?: readonly string[]
  readonly externalName?: string
  readonly externalTrafficPolicy?: string
  readonly healthCheckNodePort?: number
  readonly publishNotReadyAddresses?: boolean
  readonly sessionAffinityConfig?: SessionAffinityConfig
  readonly ipFamilies?: readonly string[]
  readonly ipFamilyPolicy?: string
  readonly allocateLoadBalancerNodePorts?: boolean
  readonly loadBalancerClass?: string
  readonly internalTrafficPolicy?: string
  readonly trafficDistribution?: string
}

/** io.k8s.api.core.v1.ServiceStatus */
export type ServiceStatus = {
  readonly loadBalancer?: LoadBalancerStatus
  readonly conditions?: readonly Condition[]
}

/** io.k8s.api.core.v1.SessionAffinityConfig */
export type SessionAffinityConfig = {
  readonly clientIP?: ClientIPConfig
}

/** io.k8s.api.core.v1.SleepAction */
export type SleepAction = {
  readonly seconds: number
}

/** io.k8s.api.core.v1.StorageOSPersistentVolumeSource */
export type StorageOSPersistentVolumeSource = {
  readonly volumeName?: string
  readonly volumeNamespace?: string
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly secretRef?: ObjectReference
}

/** io.k8s.api.core.v1.StorageOSVolumeSource */
export type StorageOSVolumeSource = {
  readonly volumeName?: string
  readonly volumeNamespace?: string
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly secretRef?: LocalObjectReference
}

/** io.k8s.api.core.v1.Sysctl */
export type Sysctl = {
  readonly name: string
  readonly value: string
}

/** io.k8s.api.core.v1.TCPSocketAction */
export type TCPSocketAction = {
  readonly port: number | string
  readonly host?: string
}

/** io.k8s.api.core.v1.Taint */
export type Taint = {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

/** io.k8s.api.core.v1.Toleration */
export type Toleration = {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

/** io.k8s.api.core.v1.TopologySelectorLabelRequirement */
export type TopologySelectorLabelRequirement = {
  readonly key: string
  readonly values: readonly string[]
}

/** io.k8s.api.core.v1.TopologySelectorTerm */
export type TopologySelectorTerm = {
  readonly matchLabelExpressions?: readonly TopologySelectorLabelRequirement[]
}

/** io.k8s.api.core.v1.TopologySpreadConstraint */
export type TopologySpreadConstraint = {
  readonly maxSkew: number
  readonly topologyKey: string
  readonly whenUnsatisfiable: string
  readonly labelSelector?: LabelSelector
  readonly minDomains?: number
  readonly nodeAffinityPolicy?: string
  readonly nodeTaintsPolicy?: string
  readonly matchLabelKeys?: readonly string[]
}

/** io.k8s.api.core.v1.TypedLocalObjectReference */
export type TypedLocalObjectReference = {
  readonly apiGroup: string
  readonly kind: string
  readonly name: string
}

/** io.k8s.api.core.v1.TypedObjectReference */
export type TypedObjectReference = {
  readonly apiGroup: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** io.k8s.api.core.v1.Volume */
export type Volume = {
  readonly name: string
  readonly hostPath?: HostPathVolumeSource
  readonly emptyDir?: EmptyDirVolumeSource
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource
  readonly gitRepo?: GitRepoVolumeSource
  readonly secret?: SecretVolumeSource
  readonly nfs?: NFSVolumeSource
  readonly iscsi?: ISCSIVolumeSource
  readonly glusterfs?: GlusterfsVolumeSource
  readonly persistentVolumeClaim?: PersistentVolumeClaimVolumeSource
  readonly rbd?: RBDVolumeSource
  readonly flexVolume?: FlexVolumeSource
  readonly cinder?: CinderVolumeSource
  readonly cephfs?: CephFSVolumeSource
  readonly flocker?: FlockerVolumeSource
  readonly downwardAPI?: DownwardAPIVolumeSource
  readonly fc?: FCVolumeSource
  readonly azureFile?: AzureFileVolumeSource
  readonly configMap?: ConfigMapVolumeSource
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource
  readonly quobyte?: QuobyteVolumeSource
  readonly azureDisk?: AzureDiskVolumeSource
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource
  readonly projected?: ProjectedVolumeSource
  readonly portworxVolume?: PortworxVolumeSource
  readonly scaleIO?: ScaleIOVolumeSource
  readonly storageos?: StorageOSVolumeSource
  readonly csi?: CSIVolumeSource
  readonly ephemeral?: EphemeralVolumeSource
  readonly image?: ImageVolumeSource
}

/** io.k8s.api.core.v1.VolumeDevice */
export type VolumeDevice = {
  readonly name: string
  readonly devicePath: string
}

/** io.k8s.api.core.v1.VolumeHealthCondition */
export type VolumeHealthCondition = {
  readonly status: string
  readonly reason: string
  readonly message?: string
}

/** io.k8s.api.core.v1.VolumeHealthStatus */
export type VolumeHealthStatus = {
  readonly healthConditions?: readonly VolumeHealthCondition[]
  readonly lastTransitionTime?: string
}

/** io.k8s.api.core.v1.VolumeMount */
export type VolumeMount = {
  readonly name: string
  readonly readOnly?: boolean
  readonly recursiveReadOnly?: string
  readonly mountPath: string
  readonly subPath?: string
  readonly mountPropagation?: string
  readonly subPathExpr?: string
  readonly bindMountOptions?: readonly string[]
}

/** io.k8s.api.core.v1.VolumeMountStatus */
export type VolumeMountStatus = {
  readonly name: string
  readonly mountPath: string
  readonly readOnly?: boolean
  readonly recursiveReadOnly?: string
  readonly volumeStatus?: VolumeStatus
}

/** io.k8s.api.core.v1.VolumeNodeAffinity */
export type VolumeNodeAffinity = {
  readonly required?: NodeSelector
}

/** io.k8s.api.core.v1.VolumeProjection */
export type VolumeProjection = {
  readonly secret?: SecretProjection
  readonly downwardAPI?: DownwardAPIProjection
  readonly configMap?: ConfigMapProjection
  readonly serviceAccountToken?: ServiceAccountTokenProjection
  readonly clusterTrustBundle?: ClusterTrustBundleProjection
  readonly podCertificate?: PodCertificateProjection
}

/** io.k8s.api.core.v1.VolumeResourceRequirements */
export type VolumeResourceRequirements = {
  readonly limits?: { readonly [key: string]: string }
  readonly requests?: { readonly [key: string]: string }
}

/** io.k8s.api.core.v1.VolumeStatus */
export type VolumeStatus = {
  readonly image?: ImageVolumeStatus
}

/** io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource */
export type VsphereVirtualDiskVolumeSource = {
  readonly volumePath: string
  readonly fsType?: string
  readonly storagePolicyName?: string
  readonly storagePolicyID?: string
}

/** io.k8s.api.core.v1.WeightedPodAffinityTerm */
export type WeightedPodAffinityTerm = {
  readonly weight: number
  readonly podAffinityTerm: PodAffinityTerm
}

/** io.k8s.api.core.v1.WindowsSecurityContextOptions */
export type WindowsSecurityContextOptions = {
  readonly gmsaCredentialSpecName?: string
  readonly gmsaCredentialSpec?: string
  readonly runAsUserName?: string
  readonly hostProcess?: boolean
}

/** io.k8s.api.discovery.v1.Endpoint */
export type Endpoint = {
  readonly addresses: readonly string[]
  readonly conditions?: EndpointConditions
  readonly hostname?: string
  readonly targetRef?: ObjectReference
  readonly deprecatedTopology?: { readonly [key: string]: string }
  readonly nodeName?: string
  readonly zone?: string
  readonly hints?: EndpointHints
}

/** io.k8s.api.discovery.v1.EndpointConditions */
export type EndpointConditions = {
  readonly ready?: boolean
  readonly serving?: boolean
  readonly terminating?: boolean
}

/** io.k8s.api.discovery.v1.EndpointHints */
export type EndpointHints = {
  readonly forZones?: readonly ForZone[]
  readonly forNodes?: readonly ForNode[]
}

/** io.k8s.api.discovery.v1.EndpointPort */
export type DiscoveryV1EndpointPort = {
  readonly name?: string
  readonly protocol?: string
  readonly port?: number
  readonly appProtocol?: string
}

/** io.k8s.api.discovery.v1.EndpointSlice */
export type EndpointSlice = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly addressType: string
  readonly endpoints: readonly Endpoint[]
  readonly ports: readonly DiscoveryV1EndpointPort[]
}

/** io.k8s.api.discovery.v1.EndpointSliceList */
export type EndpointSliceList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly EndpointSlice[]
}

/** io.k8s.api.discovery.v1.ForNode */
export type ForNode = {
  readonly name: string
}

/** io.k8s.api.discovery.v1.ForZone */
export type ForZone = {
  readonly name: string
}

/** io.k8s.api.events.v1.Event */
export type EventsV1Event = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly eventTime: string
  readonly series?: EventsV1EventSeries
  readonly reportingController?: string
  readonly reportingInstance?: string
  readonly action?: string
  readonly reason?: string
  readonly regarding?: ObjectReference
  readonly related?: ObjectReference
  readonly note?: string
  readonly type?: string
  readonly deprecatedSource?: EventSource
  readonly deprecatedFirstTimestamp?: string
  readonly deprecatedLastTimestamp?: string
  readonly deprecatedCount?: number
}

/** io.k8s.api.events.v1.EventList */
export type EventsV1EventList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly EventsV1Event[]
}

/** io.k8s.api.events.v1.EventSeries */
export type EventsV1EventSeries = {
  readonly count: number
  readonly lastObservedTime: string
}

/** io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration */
export type ExemptPriorityLevelConfiguration = {
  readonly nominalConcurrencyShares?: number
  readonly lendablePercent?: number
}

/** io.k8s.api.flowcontrol.v1.FlowDistinguisherMethod */
export type FlowDistinguisherMethod = {
  readonly type: string
}

/** io.k8s.api.flowcontrol.v1.FlowSchema */
export type FlowSchema = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: FlowSchemaSpec
  readonly status?: FlowSchemaStatus
}

/** io.k8s.api.flowcontrol.v1.FlowSchemaCondition */
export type FlowSchemaCondition = {
  readonly type?: string
  readonly status?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.flowcontrol.v1.FlowSchemaList */
export type FlowSchemaList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly FlowSchema[]
}

/** io.k8s.api.flowcontrol.v1.FlowSchemaSpec */
export type FlowSchemaSpec = {
  readonly priorityLevelConfiguration: PriorityLevelConfigurationReference
  readonly matchingPrecedence: number
  readonly distinguisherMethod?: FlowDistinguisherMethod
  readonly rules?: readonly PolicyRulesWithSubjects[]
}

/** io.k8s.api.flowcontrol.v1.FlowSchemaStatus */
export type FlowSchemaStatus = {
  readonly conditions?: readonly FlowSchemaCondition[]
}

/** io.k8s.api.flowcontrol.v1.GroupSubject */
export type GroupSubject = {
  readonly name: string
}

/** io.k8s.api.flowcontrol.v1.LimitResponse */
export type LimitResponse = {
  readonly type: string
  readonly queuing?: QueuingConfiguration
}

/** io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration */
export type LimitedPriorityLevelConfiguration = {
  readonly nominalConcurrencyShares: number
  readonly limitResponse?: LimitResponse
  readonly lendablePercent?: number
  readonly borrowingLimitPercent?: number
}

/** io.k8s.api.flowcontrol.v1.NonResourcePolicyRule */
export type NonResourcePolicyRule = {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** io.k8s.api.flowcontrol.v1.PolicyRulesWithSubjects */
export type PolicyRulesWithSubjects = {
  readonly subjects: readonly FlowcontrolV1Subject[]
  readonly resourceRules?: readonly ResourcePolicyRule[]
  readonly nonResourceRules?: readonly NonResourcePolicyRule[]
}

/** io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration */
export type PriorityLevelConfiguration = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: PriorityLevelConfigurationSpec
  readonly status?: PriorityLevelConfigurationStatus
}

/** io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationCondition */
export type PriorityLevelConfigurationCondition = {
  readonly type?: string
  readonly status?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationList */
export type PriorityLevelConfigurationList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly PriorityLevelConfiguration[]
}

/** io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationReference */
export type PriorityLevelConfigurationReference = {
  readonly name: string
}

/** io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec */
export type PriorityLevelConfigurationSpec = {
  readonly type: string
  readonly limited?: LimitedPriorityLevelConfiguration
  readonly exempt?: ExemptPriorityLevelConfiguration
}

/** io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationStatus */
export type PriorityLevelConfigurationStatus = {
  readonly conditions?: readonly PriorityLevelConfigurationCondition[]
}

/** io.k8s.api.flowcontrol.v1.QueuingConfiguration */
export type QueuingConfiguration = {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}

/** io.k8s.api.flowcontrol.v1.ResourcePolicyRule */
export type ResourcePolicyRule = {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly clusterScope?: boolean
  readonly namespaces: readonly string[]
}

/** io.k8s.api.flowcontrol.v1.ServiceAccountSubject */
export type ServiceAccountSubject = {
  readonly namespace: string
  readonly name: string
}

/** io.k8s.api.flowcontrol.v1.Subject */
export type FlowcontrolV1Subject = {
  readonly kind: string
  readonly user?: UserSubject
  readonly group?: GroupSubject
  readonly serviceAccount?: ServiceAccountSubject
}

/** io.k8s.api.flowcontrol.v1.UserSubject */
export type UserSubject = {
  readonly name: string
}

/** io.k8s.api.networking.v1.HTTPIngressPath */
export type HTTPIngressPath = {
  readonly path?: string
  readonly pathType: string
  readonly backend: IngressBackend
}

/** io.k8s.api.networking.v1.HTTPIngressRuleValue */
export type HTTPIngressRuleValue = {
  readonly paths: readonly HTTPIngressPath[]
}

/** io.k8s.api.networking.v1.IPAddress */
export type IPAddress = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: IPAddressSpec
}

/** io.k8s.api.networking.v1.IPAddressList */
export type IPAddressList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly IPAddress[]
}

/** io.k8s.api.networking.v1.IPAddressSpec */
export type IPAddressSpec = {
  readonly parentRef?: ParentReference
}

/** io.k8s.api.networking.v1.IPBlock */
export type IPBlock = {
  readonly cidr: string
  readonly except?: readonly string[]
}

/** io.k8s.api.networking.v1.Ingress */
export type Ingress = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: IngressSpec
  readonly status?: IngressStatus
}

/** io.k8s.api.networking.v1.IngressBackend */
export type IngressBackend = {
  readonly service?: IngressServiceBackend
  readonly resource?: TypedLocalObjectReference
}

/** io.k8s.api.networking.v1.IngressClass */
export type IngressClass = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: IngressClassSpec
}

/** io.k8s.api.networking.v1.IngressClassList */
export type IngressClassList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly IngressClass[]
}

/** io.k8s.api.networking.v1.IngressClassParametersReference */
export type IngressClassParametersReference = {
  readonly apiGroup?: string
  readonly kind: string
  readonly name: string
  readonly scope: string
  readonly namespace?: string
}

/** io.k8s.api.networking.v1.IngressClassSpec */
export type IngressClassSpec = {
  readonly controller?: string
  readonly parameters?: IngressClassParametersReference
}

/** io.k8s.api.networking.v1.IngressList */
export type IngressList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Ingress[]
}

/** io.k8s.api.networking.v1.IngressLoadBalancerIngress */
export type IngressLoadBalancerIngress = {
  readonly ip?: string
  readonly hostname?: string
  readonly ports?: readonly IngressPortStatus[]
}

/** io.k8s.api.networking.v1.IngressLoadBalancerStatus */
export type IngressLoadBalancerStatus = {
  readonly ingress?: readonly IngressLoadBalancerIngress[]
}

/** io.k8s.api.networking.v1.IngressPortStatus */
export type IngressPortStatus = {
  readonly port: number
  readonly protocol: string
  readonly error?: string
}

/** io.k8s.api.networking.v1.IngressRule */
export type IngressRule = {
  readonly host?: string
  readonly http?: HTTPIngressRuleValue
}

/** io.k8s.api.networking.v1.IngressServiceBackend */
export type IngressServiceBackend = {
  readonly name: string
  readonly port?: ServiceBackendPort
}

/** io.k8s.api.networking.v1.IngressSpec */
export type IngressSpec = {
  readonly ingressClassName?: string
  readonly defaultBackend?: IngressBackend
  readonly tls?: readonly IngressTLS[]
  readonly rules?: readonly IngressRule[]
}

/** io.k8s.api.networking.v1.IngressStatus */
export type IngressStatus = {
  readonly loadBalancer?: IngressLoadBalancerStatus
}

/** io.k8s.api.networking.v1.IngressTLS */
export type IngressTLS = {
  readonly hosts?: readonly string[]
  readonly secretName?: string
}

/** io.k8s.api.networking.v1.NetworkPolicy */
export type NetworkPolicy = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: NetworkPolicySpec
}

/** io.k8s.api.networking.v1.NetworkPolicyEgressRule */
export type NetworkPolicyEgressRule = {
  readonly ports?: readonly NetworkPolicyPort[]
  readonly to?: readonly NetworkPolicyPeer[]
}

/** io.k8s.api.networking.v1.NetworkPolicyIngressRule */
export type NetworkPolicyIngressRule = {
  readonly ports?: readonly NetworkPolicyPort[]
  readonly from?: readonly NetworkPolicyPeer[]
}

/** io.k8s.api.networking.v1.NetworkPolicyList */
export type NetworkPolicyList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly NetworkPolicy[]
}

/** io.k8s.api.networking.v1.NetworkPolicyPeer */
export type NetworkPolicyPeer = {
  readonly podSelector?: LabelSelector
  readonly namespaceSelector?: LabelSelector
  readonly ipBlock?: IPBlock
}

/** io.k8s.api.networking.v1.NetworkPolicyPort */
export type NetworkPolicyPort = {
  readonly protocol?: string
  readonly port?: number | string
  readonly endPort?: number
}

/** io.k8s.api.networking.v1.NetworkPolicySpec */
export type NetworkPolicySpec = {
  readonly podSelector: LabelSelector
  readonly ingress?: readonly NetworkPolicyIngressRule[]
  readonly egress?: readonly NetworkPolicyEgressRule[]
  readonly policyTypes?: readonly string[]
}

/** io.k8s.api.networking.v1.ParentReference */
export type ParentReference = {
  readonly group?: string
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
}

/** io.k8s.api.networking.v1.ServiceBackendPort */
export type ServiceBackendPort = {
  readonly name?: string
  readonly number?: number
}

/** io.k8s.api.networking.v1.ServiceCIDR */
export type ServiceCIDR = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: ServiceCIDRSpec
  readonly status?: ServiceCIDRStatus
}

/** io.k8s.api.networking.v1.ServiceCIDRList */
export type ServiceCIDRList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ServiceCIDR[]
}

/** io.k8s.api.networking.v1.ServiceCIDRSpec */
export type ServiceCIDRSpec = {
  readonly cidrs?: readonly string[]
}

/** io.k8s.api.networking.v1.ServiceCIDRStatus */
export type ServiceCIDRStatus = {
  readonly conditions?: readonly Condition[]
}

/** io.k8s.api.node.v1.Overhead */
export type Overhead = {
  readonly podFixed?: { readonly [key: string]: string }
}

/** io.k8s.api.node.v1.RuntimeClass */
export type RuntimeClass = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly handler: string
  readonly overhead?: Overhead
  readonly scheduling?: Scheduling
}

/** io.k8s.api.node.v1.RuntimeClassList */
export type RuntimeClassList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly RuntimeClass[]
}

/** io.k8s.api.node.v1.Scheduling */
export type Scheduling = {
  readonly nodeSelector?: { readonly [key: string]: string }
  readonly tolerations?: readonly Toleration[]
}

/** io.k8s.api.policy.v1.Eviction */
export type Eviction = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly deleteOptions?: DeleteOptions
}

/** io.k8s.api.policy.v1.PodDisruptionBudget */
export type PodDisruptionBudget = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: PodDisruptionBudgetSpec
  readonly status?: PodDisruptionBudgetStatus
}

/** io.k8s.api.policy.v1.PodDisruptionBudgetList */
export type PodDisruptionBudgetList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly PodDisruptionBudget[]
}

/** io.k8s.api.policy.v1.PodDisruptionBudgetSpec */
export type PodDisruptionBudgetSpec = {
  readonly minAvailable?: number | string
  readonly selector?: LabelSelector
  readonly maxUnavailable?: number | string
  readonly unhealthyPodEvictionPolicy?: string
}

/** io.k8s.api.policy.v1.PodDisruptionBudgetStatus */
export type PodDisruptionBudgetStatus = {
  readonly observedGeneration?: number
  readonly disruptedPods?: { readonly [key: string]: string }
  readonly disruptionsAllowed: number
  readonly currentHealthy: number
  readonly desiredHealthy: number
  readonly expectedPods: number
  readonly conditions?: readonly Condition[]
}

/** io.k8s.api.rbac.v1.AggregationRule */
export type AggregationRule = {
  readonly clusterRoleSelectors?: readonly LabelSelector[]
}

/** io.k8s.api.rbac.v1.ClusterRole */
export type ClusterRole = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly rules: readonly PolicyRule[]
  readonly aggregationRule?: AggregationRule
}

/** io.k8s.api.rbac.v1.ClusterRoleBinding */
export type ClusterRoleBinding = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly subjects?: readonly RbacV1Subject[]
  readonly roleRef: RoleRef
}

/** io.k8s.api.rbac.v1.ClusterRoleBindingList */
export type ClusterRoleBindingList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ClusterRoleBinding[]
}

/** io.k8s.api.rbac.v1.ClusterRoleList */
export type ClusterRoleList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ClusterRole[]
}

/** io.k8s.api.rbac.v1.PolicyRule */
export type PolicyRule = {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** io.k8s.api.rbac.v1.Role */
export type Role = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly rules: readonly PolicyRule[]
}

/** io.k8s.api.rbac.v1.RoleBinding */
export type RoleBinding = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly subjects?: readonly RbacV1Subject[]
  readonly roleRef: RoleRef
}

/** io.k8s.api.rbac.v1.RoleBindingList */
export type RoleBindingList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly RoleBinding[]
}

/** io.k8s.api.rbac.v1.RoleList */
export type RoleList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Role[]
}

/** io.k8s.api.rbac.v1.RoleRef */
export type RoleRef = {
  readonly apiGroup: string
  readonly kind: string
  readonly name: string
}

/** io.k8s.api.rbac.v1.Subject */
export type RbacV1Subject = {
  readonly kind: string
  readonly apiGroup?: string
  readonly name: string
  readonly namespace?: string
}

/** io.k8s.api.resource.v1.AllocatedDeviceStatus */
export type AllocatedDeviceStatus = {
  readonly driver: string
  readonly pool: string
  readonly device: string
  readonly shareID?: string
  readonly conditions: readonly Condition[]
  readonly data?: Json
  readonly networkData?: NetworkDeviceData
}

/** io.k8s.api.resource.v1.AllocationResult */
export type AllocationResult = {
  readonly devices?: DeviceAllocationResult
  readonly nodeSelector?: NodeSelector
  readonly allocationTimestamp?: string
}

/** io.k8s.api.resource.v1.CELDeviceSelector */
export type CELDeviceSelector = {
  readonly expression: string
}

/** io.k8s.api.resource.v1.CapacityRequestPolicy */
export type CapacityRequestPolicy = {
  readonly default: string
  readonly validValues?: readonly string[]
  readonly validRange?: CapacityRequestPolicyRange
}

/** io.k8s.api.resource.v1.CapacityRequestPolicyRange */
export type CapacityRequestPolicyRange = {
  readonly min?: string
  readonly max?: string
  readonly step?: string
}

/** io.k8s.api.resource.v1.CapacityRequirements */
export type CapacityRequirements = {
  readonly requests?: { readonly [key: string]: string }
}

/** io.k8s.api.resource.v1.Counter */
export type Counter = {
  readonly value: string
}

/** io.k8s.api.resource.v1.CounterSet */
export type CounterSet = {
  readonly name: string
  readonly counters?: { readonly [key: string]: Counter }
}

/** io.k8s.api.resource.v1.Device */
export type Device = {
  readonly name: string
  readonly attributes?: { readonly [key: string]: DeviceAttribute }
  readonly capacity?: { readonly [key: string]: DeviceCapacity }
  readonly consumesCounters?: readonly DeviceCounterConsumption[]
  readonly nodeName?: string
  readonly nodeSelector?: NodeSelector
  readonly allNodes?: boolean
  readonly taints?: readonly DeviceTaint[]
  readonly bindsToNode?: boolean
  readonly bindingConditions?: readonly string[]
  readonly bindingFailureConditions?: readonly string[]
  readonly allowMultipleAllocations?: boolean
  readonly nodeAllocatableResources?: { readonly [key: string]: NodeAllocatableResource }
}

/** io.k8s.api.resource.v1.DeviceAllocationConfiguration */
export type DeviceAllocationConfiguration = {
  readonly source: string
  readonly requests?: readonly string[]
  readonly opaque?: OpaqueDeviceConfiguration
}

/** io.k8s.api.resource.v1.DeviceAllocationResult */
export type DeviceAllocationResult = {
  readonly results?: readonly DeviceRequestAllocationResult[]
  readonly config?: readonly DeviceAllocationConfiguration[]
}

/** io.k8s.api.resource.v1.DeviceAttribute */
export type DeviceAttribute = {
  readonly int?: number
  readonly bool?: boolean
  readonly string?: string
  readonly version?: string
  readonly ints?: readonly number[]
  readonly bools?: readonly boolean[]
  readonly strings?: readonly string[]
  readonly versions?: readonly string[]
}

/** io.k8s.api.resource.v1.DeviceCapacity */
export type DeviceCapacity = {
  readonly value: string
  readonly requestPolicy?: CapacityRequestPolicy
}

/** io.k8s.api.resource.v1.DeviceClaim */
export type DeviceClaim = {
  readonly requests: readonly DeviceRequest[]
  readonly constraints?: readonly DeviceConstraint[]
  readonly config?: readonly DeviceClaimConfiguration[]
}

/** io.k8s.api.resource.v1.DeviceClaimConfiguration */
export type DeviceClaimConfiguration = {
  readonly requests?: readonly string[]
  readonly opaque?: OpaqueDeviceConfiguration
}

/** io.k8s.api.resource.v1.DeviceClass */
export type DeviceClass = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: DeviceClassSpec
}

/** io.k8s.api.resource.v1.DeviceClassConfiguration */
export type DeviceClassConfiguration = {
  readonly opaque?: OpaqueDeviceConfiguration
}

/** io.k8s.api.resource.v1.DeviceClassList */
export type DeviceClassList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly DeviceClass[]
}

/** io.k8s.api.resource.v1.DeviceClassSpec */
export type DeviceClassSpec = {
  readonly selectors?: readonly DeviceSelector[]
  readonly config?: readonly DeviceClassConfiguration[]
  readonly extendedResourceName?: string
}

/** io.k8s.api.resource.v1.DeviceConstraint */
export type DeviceConstraint = {
  readonly requests?: readonly string[]
  readonly matchAttribute?: string
  readonly distinctAttribute?: string
}

/** io.k8s.api.resource.v1.DeviceCounterConsumption */
export type DeviceCounterConsumption = {
  readonly counterSet: string
  readonly counters?: { readonly [key: string]: Counter }
  readonly compatibilityGroups?: readonly string[]
}

/** io.k8s.api.resource.v1.DeviceDerivedAttribute */
export type DeviceDerivedAttribute = {
  readonly name: string
  readonly expression: string
}

/** io.k8s.api.resource.v1.DeviceRequest */
export type DeviceRequest = {
  readonly name: string
  readonly exactly?: ExactDeviceRequest
  readonly firstAvailable?: readonly DeviceSubRequest[]
}

/** io.k8s.api.resource.v1.DeviceRequestAllocationResult */
export type DeviceRequestAllocationResult = {
  readonly request: string
  readonly driver: string
  readonly pool: string
  readonly device: string
  readonly adminAccess?: boolean
  readonly tolerations?: readonly DeviceToleration[]
  readonly bindingConditions?: readonly string[]
  readonly bindingFailureConditions?: readonly string[]
  readonly shareID?: string
  readonly consumedCapacity?: { readonly [key: string]: string }
  readonly skipNodeOperations?: readonly string[]
}

/** io.k8s.api.resource.v1.DeviceSelector */
export type DeviceSelector = {
  readonly cel?: CELDeviceSelector
}

/** io.k8s.api.resource.v1.DeviceSubRequest */
export type DeviceSubRequest = {
  readonly name: string
  readonly deviceClassName: string
  readonly selectors?: readonly DeviceSelector[]
  readonly allocationMode?: string
  readonly count?: number
  readonly tolerations?: readonly DeviceToleration[]
  readonly capacity?: CapacityRequirements
  readonly derivedAttributes?: readonly DeviceDerivedAttribute[]
}

/** io.k8s.api.resource.v1.DeviceTaint */
export type DeviceTaint = {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

/** io.k8s.api.resource.v1.DeviceTaintRule */
export type DeviceTaintRule = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: DeviceTaintRuleSpec
  readonly status?: DeviceTaintRuleStatus
}

/** io.k8s.api.resource.v1.DeviceTaintRuleList */
export type DeviceTaintRuleList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly DeviceTaintRule[]
}

/** io.k8s.api.resource.v1.DeviceTaintRuleSpec */
export type DeviceTaintRuleSpec = {
  readonly deviceSelector?: DeviceTaintSelector
  readonly taint?: DeviceTaint
}

/** io.k8s.api.resource.v1.DeviceTaintRuleStatus */
export type DeviceTaintRuleStatus = {
  readonly conditions?: readonly Condition[]
}

/** io.k8s.api.resource.v1.DeviceTaintSelector */
export type DeviceTaintSelector = {
  readonly driver?: string
  readonly pool?: string
  readonly device?: string
}

/** io.k8s.api.resource.v1.DeviceToleration */
export type DeviceToleration = {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

/** io.k8s.api.resource.v1.ExactDeviceRequest */
export type ExactDeviceRequest = {
  readonly deviceClassName: string
  readonly selectors?: readonly DeviceSelector[]
  readonly allocationMode?: string
  readonly count?: number
  readonly adminAccess?: boolean
  readonly tolerations?: readonly DeviceToleration[]
  readonly capacity?: CapacityRequirements
  readonly derivedAttributes?: readonly DeviceDerivedAttribute[]
}

/** io.k8s.api.resource.v1.NetworkDeviceData */
export type NetworkDeviceData = {
  readonly interfaceName?: string
  readonly ips?: readonly string[]
  readonly hardwareAddress?: string
}

/** io.k8s.api.resource.v1.NodeAllocatableMapping */
export type NodeAllocatableMapping = {
  readonly capacityKey?: string
  readonly capacityMultiplier?: string
  readonly deviceMultiplier?: string
}

/** io.k8s.api.resource.v1.NodeAllocatableOverhead */
export type NodeAllocatableOverhead = {
  readonly perPod?: string
  readonly perContainer?: string
}

/** io.k8s.api.resource.v1.NodeAllocatableResource */
export type NodeAllocatableResource = {
  readonly mapping?: NodeAllocatableMapping
  readonly overhead?: NodeAllocatableOverhead
}

/** io.k8s.api.resource.v1.OpaqueDeviceConfiguration */
export type OpaqueDeviceConfiguration = {
  readonly driver: string
  readonly parameters: Json
}

/** io.k8s.api.resource.v1.ResourceClaim */
export type ResourceV1ResourceClaim = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: ResourceClaimSpec
  readonly status?: ResourceClaimStatus
}

/** io.k8s.api.resource.v1.ResourceClaimConsumerReference */
export type ResourceClaimConsumerReference = {
  readonly apiGroup?: string
  readonly resource: string
  readonly name: string
  readonly uid: string
}

/** io.k8s.api.resource.v1.ResourceClaimList */
export type ResourceClaimList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ResourceV1ResourceClaim[]
}

/** io.k8s.api.resource.v1.ResourceClaimSpec */
export type ResourceClaimSpec = {
  readonly devices: DeviceClaim
}

/** io.k8s.api.resource.v1.ResourceClaimStatus */
export type ResourceClaimStatus = {
  readonly allocation?: AllocationResult
  readonly reservedFor?: readonly ResourceClaimConsumerReference[]
  readonly devices?: readonly AllocatedDeviceStatus[]
}

/** io.k8s.api.resource.v1.ResourceClaimTemplate */
export type ResourceClaimTemplate = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: ResourceClaimTemplateSpec
}

/** io.k8s.api.resource.v1.ResourceClaimTemplateList */
export type ResourceClaimTemplateList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ResourceClaimTemplate[]
}

/** io.k8s.api.resource.v1.ResourceClaimTemplateSpec */
export type ResourceClaimTemplateSpec = {
  readonly metadata?: ObjectMeta
  readonly spec: ResourceClaimSpec
}

/** io.k8s.api.resource.v1.ResourcePool */
export type ResourcePool = {
  readonly name: string
  readonly generation: number
  readonly resourceSliceCount: number
}

/** io.k8s.api.resource.v1.ResourceSlice */
export type ResourceSlice = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: ResourceSliceSpec
}

/** io.k8s.api.resource.v1.ResourceSliceList */
export type ResourceSliceList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly ResourceSlice[]
}

/** io.k8s.api.resource.v1.ResourceSliceSpec */
export type ResourceSliceSpec = {
  readonly driver: string
  readonly pool: ResourcePool
  readonly nodeName?: string
  readonly nodeSelector?: NodeSelector
  readonly allNodes?: boolean
  readonly devices?: readonly Device[]
  readonly perDeviceNodeSelection?: boolean
  readonly sharedCounters?: readonly CounterSet[]
  readonly partitionTypeAttribute?: string
  readonly skipNodeOperations?: readonly string[]
}

/** io.k8s.api.scheduling.v1.PriorityClass */
export type PriorityClass = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly value: number
  readonly globalDefault?: boolean
  readonly description?: string
  readonly preemptionPolicy?: string
}

/** io.k8s.api.scheduling.v1.PriorityClassList */
export type PriorityClassList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly PriorityClass[]
}

/** io.k8s.api.scheduling.v1alpha3.TopologyConstraint */
export type TopologyConstraint = {
  readonly key: string
}

/** io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupAllDisruptionMode */
export type WorkloadPodGroupAllDisruptionMode = {
}

/** io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupBasicSchedulingPolicy */
export type WorkloadPodGroupBasicSchedulingPolicy = {
}

/** io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupDisruptionMode */
export type WorkloadPodGroupDisruptionMode = {
  readonly single?: WorkloadPodGroupSingleDisruptionMode
  readonly all?: WorkloadPodGroupAllDisruptionMode
}

/** io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupGangSchedulingPolicy */
export type WorkloadPodGroupGangSchedulingPolicy = {
  readonly minCount?: number
}

/** io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupResourceClaim */
export type WorkloadPodGroupResourceClaim = {
  readonly name: string
  readonly resourceClaimName?: string
  readonly resourceClaimTemplateName?: string
}

/** io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupSchedulingConstraints */
export type WorkloadPodGroupSchedulingConstraints = {
  readonly topology?: readonly TopologyConstraint[]
}

/** io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy */
export type WorkloadPodGroupSchedulingPolicy = {
  readonly basic?: WorkloadPodGroupBasicSchedulingPolicy
  readonly gang?: WorkloadPodGroupGangSchedulingPolicy
}

/** io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupSingleDisruptionMode */
export type WorkloadPodGroupSingleDisruptionMode = {
}

/** io.k8s.api.storage.v1.CSIDriver */
export type CSIDriver = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: CSIDriverSpec
}

/** io.k8s.api.storage.v1.CSIDriverList */
export type CSIDriverList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly CSIDriver[]
}

/** io.k8s.api.storage.v1.CSIDriverSpec */
export type CSIDriverSpec = {
  readonly attachRequired?: boolean
  readonly podInfoOnMount?: boolean
  readonly volumeLifecycleModes?: readonly string[]
  readonly storageCapacity?: boolean
  readonly fsGroupPolicy?: string
  readonly tokenRequests?: readonly StorageV1TokenRequest[]
  readonly requiresRepublish?: boolean
  readonly seLinuxMount?: boolean
  readonly nodeAllocatableUpdatePeriodSeconds?: number
  readonly serviceAccountTokenInSecrets?: boolean
  readonly preventPodSchedulingIfMissing?: boolean
}

/** io.k8s.api.storage.v1.CSINode */
export type CSINode = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: CSINodeSpec
  readonly status?: CSINodeStatus
}

/** io.k8s.api.storage.v1.CSINodeDriver */
export type CSINodeDriver = {
  readonly name: string
  readonly nodeID: string
  readonly topologyKeys: readonly string[]
  readonly allocatable?: VolumeNodeResources
}

/** io.k8s.api.storage.v1.CSINodeList */
export type CSINodeList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly CSINode[]
}

/** io.k8s.api.storage.v1.CSINodeSpec */
export type CSINodeSpec = {
  readonly drivers: readonly CSINodeDriver[]
}

/** io.k8s.api.storage.v1.CSINodeStatus */
export type CSINodeStatus = {
  readonly storageHealth?: readonly StorageHealth[]
}

/** io.k8s.api.storage.v1.CSIStorageCapacity */
export type CSIStorageCapacity = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly nodeTopology?: LabelSelector
  readonly storageClassName: string
  readonly capacity?: string
  readonly maximumVolumeSize?: string
}

/** io.k8s.api.storage.v1.CSIStorageCapacityList */
export type CSIStorageCapacityList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly CSIStorageCapacity[]
}

/** io.k8s.api.storage.v1.StorageClass */
export type StorageClass = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly provisioner: string
  readonly parameters?: { readonly [key: string]: string }
  readonly reclaimPolicy?: string
  readonly mountOptions?: readonly string[]
  readonly allowVolumeExpansion?: boolean
  readonly volumeBindingMode?: string
  readonly allowedTopologies?: readonly TopologySelectorTerm[]
}

/** io.k8s.api.storage.v1.StorageClassList */
export type StorageClassList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly StorageClass[]
}

/** io.k8s.api.storage.v1.StorageHealth */
export type StorageHealth = {
  readonly name: string
  readonly healthConditions?: readonly StorageHealthCondition[]
}

/** io.k8s.api.storage.v1.StorageHealthCondition */
export type StorageHealthCondition = {
  readonly status: string
  readonly reason: string
  readonly message?: string
  readonly accessMode?: string
  readonly volumeMode?: string
  readonly lastTransitionTime?: string
}

/** io.k8s.api.storage.v1.TokenRequest */
export type StorageV1TokenRequest = {
  readonly audience: string
  readonly expirationSeconds?: number
}

/** io.k8s.api.storage.v1.VolumeAttachment */
export type VolumeAttachment = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: VolumeAttachmentSpec
  readonly status?: VolumeAttachmentStatus
}

/** io.k8s.api.storage.v1.VolumeAttachmentList */
export type VolumeAttachmentList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly VolumeAttachment[]
}

/** io.k8s.api.storage.v1.VolumeAttachmentSource */
export type VolumeAttachmentSource = {
  readonly persistentVolumeName?: string
  readonly inlineVolumeSpec?: PersistentVolumeSpec
}

/** io.k8s.api.storage.v1.VolumeAttachmentSpec */
export type VolumeAttachmentSpec = {
  readonly attacher: string
  readonly source: VolumeAttachmentSource
  readonly nodeName: string
}

/** io.k8s.api.storage.v1.VolumeAttachmentStatus */
export type VolumeAttachmentStatus = {
  readonly attached: boolean
  readonly attachmentMetadata?: { readonly [key: string]: string }
  readonly attachError?: VolumeError
  readonly detachError?: VolumeError
}

/** io.k8s.api.storage.v1.VolumeAttributesClass */
export type VolumeAttributesClass = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly driverName: string
  readonly parameters?: { readonly [key: string]: string }
}

/** io.k8s.api.storage.v1.VolumeAttributesClassList */
export type VolumeAttributesClassList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly VolumeAttributesClass[]
}

/** io.k8s.api.storage.v1.VolumeError */
export type VolumeError = {
  readonly time?: string
  readonly message?: string
  readonly errorCode?: number
}

/** io.k8s.api.storage.v1.VolumeNodeResources */
export type VolumeNodeResources = {
  readonly count?: number
}

/** io.k8s.api.storagemigration.v1.StorageVersionMigration */
export type StorageVersionMigration = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: StorageVersionMigrationSpec
  readonly status?: StorageVersionMigrationStatus
}

/** io.k8s.api.storagemigration.v1.StorageVersionMigrationList */
export type StorageVersionMigrationList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly StorageVersionMigration[]
}

/** io.k8s.api.storagemigration.v1.StorageVersionMigrationSpec */
export type StorageVersionMigrationSpec = {
  readonly resource: GroupResource
}

/** io.k8s.api.storagemigration.v1.StorageVersionMigrationStatus */
export type StorageVersionMigrationStatus = {
  readonly conditions?: readonly Condition[]
  readonly resourceVersion?: string
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionRequest */
export type ConversionRequest = {
  readonly uid: string
  readonly desiredAPIVersion: string
  readonly objects: readonly Json[]
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionResponse */
export type ConversionResponse = {
  readonly uid: string
  readonly convertedObjects: readonly Json[]
  readonly result: Status
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionReview */
export type ConversionReview = {
  readonly kind: string
  readonly apiVersion: string
  readonly request?: ConversionRequest
  readonly response?: ConversionResponse
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition */
export type CustomResourceColumnDefinition = {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
  readonly jsonPath: string
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion */
export type CustomResourceConversion = {
  readonly strategy: string
  readonly webhook?: WebhookConversion
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition */
export type CustomResourceDefinition = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec: CustomResourceDefinitionSpec
  readonly status?: CustomResourceDefinitionStatus
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition */
export type CustomResourceDefinitionCondition = {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
  readonly observedGeneration?: number
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionList */
export type CustomResourceDefinitionList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly CustomResourceDefinition[]
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames */
export type CustomResourceDefinitionNames = {
  readonly plural: string
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly kind: string
  readonly listKind?: string
  readonly categories?: readonly string[]
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec */
export type CustomResourceDefinitionSpec = {
  readonly group: string
  readonly names: CustomResourceDefinitionNames
  readonly scope: string
  readonly versions: readonly CustomResourceDefinitionVersion[]
  readonly conversion?: CustomResourceConversion
  readonly preserveUnknownFields?: boolean
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus */
export type CustomResourceDefinitionStatus = {
  readonly conditions: readonly CustomResourceDefinitionCondition[]
  readonly acceptedNames: CustomResourceDefinitionNames
  readonly storedVersions: readonly string[]
  readonly observedGeneration?: number
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion */
export type CustomResourceDefinitionVersion = {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: CustomResourceValidation
  readonly subresources?: CustomResourceSubresources
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[]
  readonly selectableFields?: readonly SelectableField[]
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale */
export type CustomResourceSubresourceScale = {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus */
export type CustomResourceSubresourceStatus = {
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources */
export type CustomResourceSubresources = {
  readonly status?: CustomResourceSubresourceStatus
  readonly scale?: CustomResourceSubresourceScale
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation */
export type CustomResourceValidation = {
  readonly openAPIV3Schema?: JSONSchemaProps
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation */
export type ExternalDocumentation = {
  readonly description?: string
  readonly url?: string
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps */
export type JSONSchemaProps = {
  readonly id?: string
  readonly '$schema'?: string
  readonly '$ref'?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly default?: Json
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maxLength?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly maxItems?: number
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly multipleOf?: number
  readonly enum?: readonly Json[]
  readonly maxProperties?: number
  readonly minProperties?: number
  readonly required?: readonly string[]
  readonly items?: JSONSchemaProps | readonly JSONSchemaProps[]
  readonly allOf?: readonly JSONSchemaProps[]
  readonly oneOf?: readonly JSONSchemaProps[]
  readonly anyOf?: readonly JSONSchemaProps[]
  readonly not?: JSONSchemaProps
  readonly properties?: { readonly [key: string]: JSONSchemaProps }
  readonly additionalProperties?: JSONSchemaProps | boolean
  readonly patternProperties?: { readonly [key: string]: JSONSchemaProps }
  readonly dependencies?: { readonly [key: string]: JSONSchemaProps | readonly string[] }
  readonly additionalItems?: JSONSchemaProps | boolean
  readonly definitions?: { readonly [key: string]: JSONSchemaProps }
  readonly externalDocs?: ExternalDocumentation
  readonly example?: Json
  readonly nullable?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField */
export type SelectableField = {
  readonly jsonPath: string
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference */
export type ApiextensionsV1ServiceReference = {
  readonly namespace: string
  readonly name: string
  readonly path?: string
  readonly port?: number
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule */
export type ValidationRule = {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig */
export type ApiextensionsV1WebhookClientConfig = {
  readonly url?: string
  readonly service?: ApiextensionsV1ServiceReference
  readonly caBundle?: string
}

/** io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion */
export type WebhookConversion = {
  readonly clientConfig?: ApiextensionsV1WebhookClientConfig
  readonly conversionReviewVersions: readonly string[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup */
export type APIGroup = {
  readonly kind: string
  readonly apiVersion: string
  readonly name: string
  readonly versions: readonly GroupVersionForDiscovery[]
  readonly preferredVersion?: GroupVersionForDiscovery
  readonly serverAddressByClientCIDRs?: readonly ServerAddressByClientCIDR[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList */
export type APIGroupList = {
  readonly kind: string
  readonly apiVersion: string
  readonly groups: readonly APIGroup[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.APIResource */
export type APIResource = {
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly storageVersionHash?: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList */
export type APIResourceList = {
  readonly kind: string
  readonly apiVersion: string
  readonly groupVersion: string
  readonly resources: readonly APIResource[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions */
export type APIVersions = {
  readonly kind: string
  readonly apiVersion: string
  readonly versions: readonly string[]
  readonly serverAddressByClientCIDRs: readonly ServerAddressByClientCIDR[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.Condition */
export type Condition = {
  readonly type: string
  readonly status: string
  readonly observedGeneration?: number
  readonly lastTransitionTime: string
  readonly reason: string
  readonly message: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.CreateOptions */
export type CreateOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly dryRun?: readonly string[]
  readonly fieldManager?: string
  readonly fieldValidation?: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions */
export type DeleteOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly gracePeriodSeconds?: number
  readonly preconditions?: Preconditions
  readonly orphanDependents?: boolean
  readonly propagationPolicy?: string
  readonly dryRun?: readonly string[]
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement */
export type FieldSelectorRequirement = {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.GetOptions */
export type GetOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly resourceVersion?: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.GroupResource */
export type GroupResource = {
  readonly group: string
  readonly resource: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery */
export type GroupVersionForDiscovery = {
  readonly groupVersion: string
  readonly version: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector */
export type LabelSelector = {
  readonly matchLabels?: { readonly [key: string]: string }
  readonly matchExpressions?: readonly LabelSelectorRequirement[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement */
export type LabelSelectorRequirement = {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.List */
export type MetaV1List = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly Json[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta */
export type ListMeta = {
  readonly selfLink?: string
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
  readonly shardInfo?: ShardInfo
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.ListOptions */
export type ListOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly watch?: boolean
  readonly allowWatchBookmarks?: boolean
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: string
  readonly timeoutSeconds?: number
  readonly limit?: number
  readonly continue?: string
  readonly sendInitialEvents?: boolean
  readonly shardSelector?: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata */
export type PartialObjectMetadata = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList */
export type PartialObjectMetadataList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly PartialObjectMetadata[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.PatchOptions */
export type PatchOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly dryRun?: readonly string[]
  readonly force?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions */
export type Preconditions = {
  readonly uid?: string
  readonly resourceVersion?: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR */
export type ServerAddressByClientCIDR = {
  readonly clientCIDR: string
  readonly serverAddress: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo */
export type ShardInfo = {
  readonly selector: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.Status */
export type Status = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code?: number
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause */
export type StatusCause = {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails */
export type StatusDetails = {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.Table */
export type Table = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly columnDefinitions: readonly TableColumnDefinition[]
  readonly rows: readonly TableRow[]
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.TableColumnDefinition */
export type TableColumnDefinition = {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.TableOptions */
export type TableOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly includeObject?: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.TableRow */
export type TableRow = {
  readonly cells: readonly Json[]
  readonly conditions?: readonly TableRowCondition[]
  readonly object?: Json
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.TableRowCondition */
export type TableRowCondition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.UpdateOptions */
export type UpdateOptions = {
  readonly kind: string
  readonly apiVersion: string
  readonly dryRun?: readonly string[]
  readonly fieldManager?: string
  readonly fieldValidation?: string
}

/** io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent */
export type WatchEvent = {
  readonly type: string
  readonly object: Json
}

/** io.k8s.apimachinery.pkg.version.Info */
export type Info = {
  readonly major: string
  readonly minor: string
  readonly emulationMajor?: string
  readonly emulationMinor?: string
  readonly minCompatibilityMajor?: string
  readonly minCompatibilityMinor?: string
  readonly gitVersion: string
  readonly gitCommit: string
  readonly gitTreeState: string
  readonly buildDate: string
  readonly goVersion: string
  readonly compiler: string
  readonly platform: string
}

/** io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService */
export type APIService = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ObjectMeta
  readonly spec?: APIServiceSpec
  readonly status?: APIServiceStatus
}

/** io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceCondition */
export type APIServiceCondition = {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceList */
export type APIServiceList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly items: readonly APIService[]
}

/** io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec */
export type APIServiceSpec = {
  readonly service?: ApiregistrationV1ServiceReference
  readonly group?: string
  readonly version?: string
  readonly insecureSkipTLSVerify?: boolean
  readonly caBundle?: string
  readonly groupPriorityMinimum: number
  readonly versionPriority: number
}

/** io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceStatus */
export type APIServiceStatus = {
  readonly conditions?: readonly APIServiceCondition[]
}

/** io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference */
export type ApiregistrationV1ServiceReference = {
  readonly namespace?: string
  readonly name?: string
  readonly port?: number
}
