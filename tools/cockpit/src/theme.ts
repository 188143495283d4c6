// Colours by name, from the style sheet, so that canvases follow the theme.
let computed = getComputedStyle(document.documentElement);

export function color(name: string): string {
  return computed.getPropertyValue(`--${name}`).trim() || "#888";
}

export function setTheme(theme: "dark" | "light"): void {
  document.documentElement.dataset["theme"] = theme;
  computed = getComputedStyle(document.documentElement);
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // Private windows have no storage.
  }
}

export function startTheme(): "dark" | "light" {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem("theme");
  } catch {
    // As above.
  }
  const light = kept ? kept === "light" : matchMedia("(prefers-color-scheme: light)").matches;
  const theme = light ? "light" : "dark";
  setTheme(theme);
  return theme;
}
