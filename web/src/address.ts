// Every state of the page is in its address: #/RUN/LAYER/FILTER?sort=purity. What starts with @ is a page, not a name.
import { useEffect, useState } from "preact/hooks";

export interface Place {
  path: string[];
  query: URLSearchParams;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export function placeOf(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

export function here(): Place {
  return placeOf(location.hash);
}

export type Query = Record<string, string | number | string[] | null | undefined>;

function written(query: URLSearchParams): string {
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

export function withChanges(query: URLSearchParams, changes: Query): URLSearchParams {
  const changed = new URLSearchParams(query);
  for (const [key, value] of Object.entries(changes)) {
    changed.delete(key);
    if (Array.isArray(value)) for (const one of value) changed.append(key, one);
    else if (value !== null && value !== undefined && value !== "") changed.set(key, String(value));
  }
  return changed;
}

export function link(path: (string | number)[], query: Query | URLSearchParams = {}): string {
  const all = query instanceof URLSearchParams ? query : withChanges(new URLSearchParams(), query);
  return `#/${path.map((segment) => encodeURIComponent(segment).replace(/^%40/, "@")).join("/")}${written(all)}`;
}

export function go(address: string): void {
  location.hash = address;
}

const changed = "partwise:address";

// Changes what is chosen on this page; the back button leaves the page rather than undoing each choice.
export function choose(changes: Query): void {
  const place = here();
  history.replaceState(null, "", link(place.path, withChanges(place.query, changes)));
  dispatchEvent(new Event(changed));
}

export function usePlace(): Place {
  const [place, set] = useState(here);
  useEffect(() => {
    const update = (): void => set(here());
    addEventListener("hashchange", update);
    addEventListener(changed, update);
    return () => {
      removeEventListener("hashchange", update);
      removeEventListener(changed, update);
    };
  }, []);
  return place;
}
