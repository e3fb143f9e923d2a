// What partwise serve answers (docs/explorer.md). Numbers that do not exist are null.
export type Maybe = number | null;
export type Better = "higher" | "lower" | null;

export interface Finding {
  key: string;
  title: string;
  value: Maybe;
  low: Maybe;
  high: Maybe;
  controls: Record<string, Maybe>;
  n: Maybe;
  better: Better;
  meaning: string;
  is_share?: boolean;
  leads?: boolean;
}

export interface Layer {
  name: string;
  role: string;
  filters: Maybe;
  side: Maybe;
  input_side: Maybe;
  has_mask?: boolean;
}

export interface Run {
  id: string;
  label: string;
  folder: string;
  arm: string;
  net: string;
  task: string;
  state: "measured" | "trained" | "training";
  ready?: boolean;
  opening?: boolean;
  learning?: boolean; // which parts its filters stand for
  failure?: string;
  seed: Maybe;
  categories: string[];
  classes: string[];
  layers: Layer[];
  data: { folder: string; there: boolean; why: string };
  knows_parts: boolean;
  split: string;
  images: Maybe;
  accuracy: Finding | null;
}

export interface Runs {
  program: string;
  names_can_change: boolean;
  runs: Run[];
}

export interface Findings {
  network: Finding[];
  layers: { name: string; role: string; findings: Finding[] }[];
  warnings: string[];
}

export interface Column {
  key: string;
  title: string;
  better: Better;
  meaning: string;
  is_share?: boolean;
}

export interface Filter {
  filter: number;
  category: string;
  name: string;
  named_by: "people" | "parts" | "place" | "";
  note: string;
  silent: boolean;
  measures: Record<string, Maybe>;
}

export interface Filters {
  columns: Column[];
  filters: Filter[];
}

export const views = ["crop", "map", "mask", "masked", "field"] as const;
export type View = (typeof views)[number];

export interface Picture {
  row: number;
  file: string;
  category: string;
  decision: string;
  right: boolean;
  peak: Maybe;
  share: Maybe;
  x: Maybe;
  y: Maybe;
  change?: Maybe;
  pictures: Partial<Record<View, string | null>>;
}

export interface FilterPage extends Filter {
  revision: number;
  evidence: Finding[];
  why?: string;
  histogram: { edges: number[]; own: number[]; others: number[] } | null;
  bands: { strongest: Picture[]; middle: Picture[]; weak: Picture[]; wrong: Picture[] } | null;
  matters: Picture[];
  nearest: { filter: number; category: string; name: string; correlation: Maybe }[];
}

export interface Part {
  name: string;
  label?: string;
  of: string;
  filters: number[];
  share: number;
  share_error: number;
  contrast: number;
  contrast_error: number;
  silenced: number;
  additive?: Maybe;
  place?: [number, number] | null;
  outlines?: [number, number][][];
}

export interface Explanation {
  decision: string;
  probability: number;
  against: string;
  against_probability: number;
  box: [number, number, number, number];
  evidence: {
    for: string;
    score: number;
    baseline: number;
    above_baseline: number;
    by_default: boolean;
    weak: boolean;
    training_images_with_less: Maybe;
  };
  exact: boolean;
  orders: number;
  completeness_error: number;
  additive_error: Maybe;
  layer: string;
  parts: Part[];
  filters: { filter: number; category: string; name: string; share: number; share_error: number }[];
}

export interface Explained {
  photo: string;
  width: number;
  height: number;
  picture: string;
  explanation: Explanation;
}

export interface Silenced {
  predicted: Maybe;
  additive: Maybe;
  actual: Maybe;
  score: Maybe;
  decision: string;
  probability: Maybe;
  probabilities: Record<string, number>;
}

export interface Errors {
  classes: string[];
  confusion: number[][];
  objects: number;
  wrong: number;
}

export interface Cell {
  images: { row: number; file: string; probability: Maybe; picture: string }[];
  objects?: number;
  explained?: number;
  misled: { part: string; of: string; for_wrong: Maybe; on_right: Maybe; low: Maybe; high: Maybe }[];
}

export interface Match {
  first: number;
  second: number;
  correlation: Maybe;
  first_name: string;
  second_name: string;
}

export interface Comparison {
  difference: string;
  not_paired?: string;
  not_matched?: string;
  numbers: {
    role: string;
    key: string;
    title: string;
    first: Maybe;
    second: Maybe;
    difference: Maybe;
    low: Maybe;
    high: Maybe;
    verdict: string;
    better: Better;
    is_share?: boolean;
  }[];
  layers: { role: string; first_layer: string; second_layer: string; matches: Match[] }[];
}

export type LogRow = Record<string, unknown>;

export interface Log {
  lines: LogRow[];
  total: number;
  state: Run["state"];
  epochs: Maybe;
}

export interface Sheet {
  order: { layer: string; filter: number }[];
  named: Record<string, string>;
  pictures?: Record<string, string[]>;
}

export interface Semantics {
  raters: { name: string; count: number }[];
  table: { rater: string; layer: string; category: string; name: string; share: Maybe; filters: number; of: number }[];
  agreement: {
    first: string;
    second: string;
    n: number;
    same: Maybe;
    by_chance: Maybe;
    kappa: Maybe;
    low: Maybe;
    high: Maybe;
  } | null;
}

export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly body: unknown,
  ) {
    super(message);
  }
}

function lineOf(body: unknown): string {
  if (typeof body === "object" && body !== null && "error" in body && typeof body.error === "string") return body.error;
  return "";
}

async function answered<T>(request: Promise<Response>): Promise<T> {
  let response: Response;
  try {
    response = await request;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refusal(0, "partwise serve does not answer: is it still running?", null);
  }
  let body: unknown = null;
  try {
    body = await response.json();
  } catch {
    if (response.ok) throw new Refusal(response.status, "the answer of partwise serve cannot be read", null);
  }
  if (!response.ok) throw new Refusal(response.status, lineOf(body) || `the server answered ${response.status}`, body);
  return body as T;
}

export function get<T>(address: string, signal?: AbortSignal): Promise<T> {
  return answered<T>(fetch(address, signal ? { signal } : {}));
}

export function send<T>(method: "PUT" | "POST", address: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const bytes = body instanceof Blob;
  return answered<T>(
    fetch(address, {
      method,
      headers: { "X-Partwise": "1", "Content-Type": bytes ? "application/octet-stream" : "application/json" },
      body: bytes ? body : JSON.stringify(body),
      ...(signal ? { signal } : {}),
    }),
  );
}

const path = (...segments: (string | number)[]): string => segments.map((one) => encodeURIComponent(one)).join("/");

function asked(parameters: Record<string, string>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  return given.length > 0 ? `?${given.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}` : "";
}

export const api = {
  runs: "/api/runs",
  findings: (run: string) => `/api/${path("runs", run, "findings")}`,
  filters: (run: string, layer: string) => `/api/${path("runs", run, "layers", layer, "filters")}`,
  filter: (run: string, layer: string, filter: number) => `/api/${path("runs", run, "layers", layer, "filters", filter)}`,
  tile: (run: string, layer: string, filter: number) =>
    `/api/${path("runs", run, "layers", layer, "filters", filter, "tile.png")}`,
  name: (run: string, layer: string, filter: number) =>
    `/api/${path("runs", run, "layers", layer, "filters", filter, "name")}`,
  merges: (run: string) => `/api/${path("runs", run, "merges")}`,
  explain: (run: string, against: string, box: string) => `/api/${path("runs", run, "explain")}${asked({ against, box })}`,
  explainRow: (run: string, row: number, against: string) => `/api/${path("runs", run, "explain-row", row)}${asked({ against })}`,
  silence: (photo: string) => `/api/${path("photos", photo, "silence")}`,
  errors: (run: string) => `/api/${path("runs", run, "errors")}`,
  cell: (run: string, truth: string, predicted: string) => `/api/${path("runs", run, "errors", truth, predicted)}`,
  compare: (first: string, second: string) =>
    `/api/compare?first=${encodeURIComponent(first)}&second=${encodeURIComponent(second)}`,
  log: (run: string, after: number) => `/api/${path("runs", run, "log")}?after=${after}`,
  sheet: (run: string, rater: string) => `/api/${path("runs", run, "sheet", rater)}`,
  semantics: (run: string) => `/api/${path("runs", run, "semantics")}`,
};
