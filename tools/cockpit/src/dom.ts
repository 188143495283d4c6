// Elements by name, and new ones.

export function byId<T extends Element = HTMLElement>(id: string): T {
  return document.getElementById(id) as unknown as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export function button(text: string, title: string, press: (event: MouseEvent) => unknown): HTMLButtonElement {
  const made = make("button", { type: "button", textContent: text, title });
  made.addEventListener("click", press);
  return made;
}

export function section(title: string, className: string, ...children: Node[]): HTMLElement {
  const made = make("section", { className }, make("h2", { textContent: title }), ...children);
  made.setAttribute("aria-label", title);
  return made;
}

/** Shown as in force: a lamp, or a button that stays down. */
export function light(element: Element, on: boolean): void {
  element.classList.toggle("on", on);
  if (element instanceof HTMLButtonElement) element.setAttribute("aria-pressed", String(on));
  else if (element.classList.contains("lamp")) name(element, `${element.textContent}: ${on ? "on" : "off"}`);
}

/** Colour is not heard. */
function name(lamp: Element, label: string): void {
  if (lamp.getAttribute("aria-label") === label) return;
  lamp.setAttribute("role", "img");
  lamp.setAttribute("aria-label", label);
}

/** Of no use now: it looks so and is said so, but who presses it is told why. */
export function dim(element: Element, isDim: boolean): void {
  element.setAttribute("aria-disabled", String(isDim));
}

/** Writes only what is new: an element that keeps its text costs no layout. */
export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
