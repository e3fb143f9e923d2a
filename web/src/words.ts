// Numbers and verdicts in words, as the report has them.
import type { Finding, Maybe, Run } from "./server";

const minus = (text: string): string => text.replace("-", "−");

export function number(value: Maybe | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (Number.isInteger(value)) return minus(value.toLocaleString("en-GB"));
  if (size >= 100) return minus(value.toFixed(0));
  if (size >= 10) return minus(value.toFixed(1));
  if (size >= 1) return minus(value.toFixed(2));
  if (size < 1e-6) return minus(value.toExponential(1));
  if (size < 0.001) return minus(value.toFixed(6).replace(/(\.0*[1-9]).*/, "$1"));
  return minus(value.toFixed(3));
}

export function signed(value: Maybe | undefined): string {
  return typeof value === "number" && value > 0 ? `+${number(value)}` : number(value);
}

export function percent(value: Maybe | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return `${minus((100 * value).toFixed(1))} %`;
}

// A number of the catalogue; the server says which ones are shares.
export interface Of {
  key: string;
  is_share?: boolean;
}

export function isShare(of: Of): boolean {
  return of.is_share ?? /accuracy|_share$/.test(of.key);
}

export function shown(of: Of, value: Maybe | undefined): string {
  return isShare(of) ? percent(value) : number(value);
}

export function interval(of: Of | null, low: Maybe, high: Maybe): string {
  if (low === null || high === null) return "";
  const end = (value: number): string => (of === null ? number(value) : shown(of, value).replace(" %", ""));
  return `[${end(low)}, ${end(high)}]`;
}

// On an axis: no more digits than it takes.
export function tick(value: number): string {
  return minus(String(Number(value.toPrecision(3))));
}

export type Verdict = "better" | "worse" | "unclear";

export interface Against {
  control: string;
  value: number;
  verdict: Verdict;
  words: string;
}

// Better or worse is said only where the 95 % interval leaves the control out.
export function heldAgainst(finding: Finding): Against[] {
  return Object.entries(finding.controls).flatMap(([key, value]): Against[] => {
    if (value === null) return [];
    const control = key.replaceAll("_", " ");
    const beside = `${control} (${shown(finding, value)})`;
    const { low, high } = finding;
    if (low === null || high === null) return [{ control, value, verdict: "unclear", words: `control: ${beside}` }];
    if (value >= low && value <= high)
      return [{ control, value, verdict: "unclear", words: `not distinguishable from its control, ${beside}` }];
    const above = value < low;
    if (finding.better === null)
      return [{ control, value, verdict: "unclear", words: `${above ? "above" : "below"} its control, ${beside}` }];
    const good = above === (finding.better === "higher");
    return [
      { control, value, verdict: good ? "better" : "worse", words: `${good ? "better" : "worse"} than ${beside}` },
    ];
  });
}

// Where the interval of a difference leaves out 0, it says higher or lower; whether that is good depends on the number.
export function verdictOf(words: string, better: Finding["better"]): Verdict {
  if (words === "better" || words === "worse") return words;
  if (better === null || (words !== "higher" && words !== "lower")) return "unclear";
  return words === better ? "better" : "worse";
}

export function verdictWords(words: string, better: Finding["better"]): string {
  const verdict = verdictOf(words, better);
  return verdict === "unclear" || verdict === words ? words : `${verdict} (${words})`;
}

export function hint(better: Finding["better"]): string {
  return better === "higher" ? "higher is better" : better === "lower" ? "lower is better" : "";
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en-GB")} ${n === 1 ? one : many}`;
}

const arms = ["ordinary", "ordinary+layer", "masked", "interpretable"];

// The report's colours: one per arm, or one per run where an arm occurs twice.
export function colour(runs: Run[], id: string): string {
  const index = runs.findIndex((run) => run.id === id);
  const distinct = new Set(runs.map((run) => run.arm)).size === runs.length;
  const arm = arms.indexOf(runs[index]?.arm ?? "");
  return `series-${(distinct && arm >= 0 ? arm : Math.max(0, index)) % 8}`;
}

export const states: Record<Run["state"], string> = {
  measured: "measured",
  trained: "trained, not measured",
  training: "training",
};
