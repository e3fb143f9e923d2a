// A scale from values to shares of a chart's width, with round ends.
export interface Scale {
  low: number;
  high: number;
  ticks: number[];
  at: (value: number) => number;
}

function roundStep(span: number, steps: number): number {
  const raw = span / steps;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw) ?? 10;
  return step * power;
}

export function scale(values: (number | null | undefined)[], options: { zero?: boolean; steps?: number } = {}): Scale {
  const known = values.filter((value): value is number => typeof value === "number" && Number.isFinite(value));
  if (options.zero) known.push(0);
  let low = known.length ? Math.min(...known) : 0;
  let high = known.length ? Math.max(...known) : 1;
  if (low === high) {
    const room = Math.abs(low) * 0.1 || 1;
    if (low !== 0) low -= room;
    high += room;
  }
  const step = roundStep(high - low, options.steps ?? 4);
  low = Math.floor(low / step + 1e-9) * step;
  high = Math.ceil(high / step - 1e-9) * step;
  const ticks: number[] = [];
  for (let k = 0; low + k * step <= high + step / 2; ++k) ticks.push(Number((low + k * step).toPrecision(12)));
  return { low, high, ticks, at: (value) => (value - low) / (high - low) };
}

export const share = (value: number): string => `${(100 * value).toFixed(2)}%`;
