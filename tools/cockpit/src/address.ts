// The address that the run printed.  What is behind its question mark is a key, and an address bar is seen, shared and
// kept: it is taken out of there, and this tab alone remembers it.

const KEPT = "search";
const OPERATOR = "operator=";

/** What the page was opened with, also after a reload.  Who opens the bare address has nothing. */
export function takeSearch(): string {
  const given = location.search;
  try {
    const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    if (given) sessionStorage.setItem(KEPT, given);
    else if (visit?.type === "navigate") sessionStorage.removeItem(KEPT);
    if (given) history.replaceState(null, "", location.pathname + location.hash);
    return sessionStorage.getItem(KEPT) ?? "";
  } catch {
    return given; // no storage: it stays where it is
  }
}

/** Without the right to command; the same where there is none in it. */
export function asViewer(search: string): string {
  const rest = search.slice(1).split("&").filter((part) => part && !part.startsWith(OPERATOR));
  return rest.length > 0 ? `?${rest.join("&")}` : "";
}

export function socketOf(search: string): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/${search}`;
}
