import { effect, signal, type Signal } from "@preact/signals";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "glovebox.theme";

export const theme: Signal<Theme> = signal<Theme>("system");
/** What is on the screen now. */
export const isDark: Signal<boolean> = signal(false);

/** Shows the theme that was chosen last, and follows the system where none was. */
export function openTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  theme.value = themes.find((each) => each === localStorage.getItem(storageKey)) ?? "system";
  const show = (): void => {
    isDark.value = theme.value === "system" ? dark.matches : theme.value === "dark";
    document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
  };
  dark.addEventListener("change", show);
  effect(show);
}

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system";
  localStorage.setItem(storageKey, theme.value);
}
