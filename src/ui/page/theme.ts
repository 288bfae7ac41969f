/** Light or dark: as the system has it, or as is chosen. */
import { effect, signal } from '@preact/signals'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'skiff-theme'
const dark = matchMedia('(prefers-color-scheme: dark)')

const kept = localStorage.getItem(KEY)
export const chosen = signal<Theme>(THEMES.find((one) => one === kept) ?? 'system')
/** Changes with what is shown, so that a canvas can be drawn anew. */
export const theme = signal('')

function show(): void {
  const isDark = chosen.value === 'dark' || (chosen.value === 'system' && dark.matches)
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
  theme.value = isDark ? 'dark' : 'light'
}

export function followTheme(): void {
  dark.addEventListener('change', show)
  effect(() => {
    localStorage.setItem(KEY, chosen.value)
    show()
  })
}
