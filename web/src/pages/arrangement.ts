// Which filters of a layer are shown, and in which order: all of it is in the address.
import type { Filter, Filters, Maybe } from "../server";

export interface Range {
  key: string;
  low: string;
  high: string;
}

export function rangesOf(query: URLSearchParams): Range[] {
  return query.getAll("range").map((text) => {
    const [key = "", low = "", high = ""] = text.split(":");
    return { key, low, high };
  });
}

export const rangeText = (range: Range): string => `${range.key}:${range.low}:${range.high}`;

export const unnamed = "no name";

export function measure(filter: Filter, key: string): Maybe {
  return filter.measures[key] ?? null;
}

function inside(filter: Filter, range: Range): boolean {
  if (range.low === "" && range.high === "") return true;
  const value = measure(filter, range.key);
  if (value === null) return false;
  return (range.low === "" || value >= Number(range.low)) && (range.high === "" || value <= Number(range.high));
}

function matches(filter: Filter, words: string): boolean {
  const text = `${filter.filter} ${filter.name} ${filter.category} ${filter.note}`.toLocaleLowerCase();
  return words
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => (/^\d+$/.test(word) ? String(filter.filter) === word || text.includes(word) : text.includes(word)));
}

export function falls(query: URLSearchParams, filters: Filters): boolean {
  const asked = query.get("down");
  if (asked !== null) return asked === "1";
  const column = filters.columns.find((one) => one.key === query.get("sort"));
  return column !== undefined && column.better !== "lower";
}

export function arranged(filters: Filters, query: URLSearchParams): Filter[] {
  const [words, category, part] = [query.get("q") ?? "", query.get("category"), query.get("part")];
  const [named, silent, ranges] = [query.get("named"), query.get("silent"), rangesOf(query)];
  const chosen = filters.filters.filter(
    (filter) =>
      matches(filter, words.trim()) &&
      (category === null || filter.category === category) &&
      (part === null || (filter.name || unnamed) === part) &&
      (named === null || (filter.name !== "") === (named === "yes")) &&
      (silent === null || filter.silent === (silent === "yes")) &&
      ranges.every((range) => inside(filter, range)),
  );
  const key = query.get("sort");
  if (key === null) return chosen;
  const sign = falls(query, filters) ? -1 : 1;
  return chosen.sort((a, b) => {
    const [x, y] = [measure(a, key), measure(b, key)];
    if (x === null || y === null) return x === y ? a.filter - b.filter : x === null ? 1 : -1;
    return sign * (x - y) || a.filter - b.filter;
  });
}

export interface PartGroup {
  part: string;
  silent: boolean;
  filters: Filter[];
}

export interface CategoryGroup {
  category: string;
  count: number;
  parts: PartGroup[];
}

// By category in the run's order, then by part, the part with most filters first; nameless and silent ones come last.
export function grouped(filters: Filter[], categories: string[]): CategoryGroup[] {
  const names = [...new Set([...categories, ...filters.map((filter) => filter.category)])];
  return names.flatMap((category): CategoryGroup[] => {
    const mine = filters.filter((filter) => filter.category === category);
    if (mine.length === 0) return [];
    const parts = new Map<string, PartGroup>();
    for (const filter of mine) {
      const key = filter.silent ? "\u0000silent" : filter.name;
      const group = parts.get(key) ?? { part: filter.silent ? "silent" : filter.name || unnamed, silent: filter.silent, filters: [] };
      group.filters.push(filter);
      parts.set(key, group);
    }
    const rank = (group: PartGroup): number => (group.silent ? 2 : group.part === unnamed ? 1 : 0);
    const order = [...parts.values()].sort((a, b) => rank(a) - rank(b) || b.filters.length - a.filters.length || a.part.localeCompare(b.part));
    return [{ category, count: mine.length, parts: order }];
  });
}

// The order in which the atlas shows them, group after group.
export function inOrder(filters: Filters, query: URLSearchParams, categories: string[]): Filter[] {
  const list = arranged(filters, query);
  if (query.get("group") === "none") return list;
  return grouped(list, categories).flatMap((category) => category.parts.flatMap((part) => part.filters));
}
