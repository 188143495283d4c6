// Colours by name, from the style sheet, so that canvases follow the theme.
let computed = getComputedStyle(document.documentElement);

export function color(name: string): string {
  return computed.getPropertyValue(`--${name}`).trim() || "#888";
}

export function opacity(name: string): number {
  return Number(computed.getPropertyValue(`--${name}`)) || 0;
}

function setTheme(isLight: boolean): void {
  document.documentElement.dataset["theme"] = isLight ? "light" : "dark";
  computed = getComputedStyle(document.documentElement);
}

/** Kept for the next time. */
export function flipTheme(): void {
  const theme = document.documentElement.dataset["theme"] === "light" ? "dark" : "light";
  setTheme(theme === "light");
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // Private windows have no storage.
  }
}

/** As it was chosen, or else as the system has it, also when that changes. */
export function startTheme(changed: () => void): void {
  const system = matchMedia("(prefers-color-scheme: light)");
  const follow = () => {
    let kept: string | null = null;
    try {
      kept = localStorage.getItem("theme");
    } catch {
      // As above.
    }
    setTheme(kept ? kept === "light" : system.matches);
  };
  follow();
  system.addEventListener("change", () => {
    follow();
    changed();
  });
}
