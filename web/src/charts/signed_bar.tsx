// A bar from zero to either side, with its error.
import type { JSX } from "preact";
import { share } from "./scale";

export function SignedBar(props: { value: number; error?: number; most: number; low?: number; high?: number; tone?: string }): JSX.Element {
  const reach = props.most || 1;
  const { low, high } = { low: -(props.low ?? reach), high: props.high ?? reach };
  const x = (value: number): number => Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
  const [from, to] = props.value < 0 ? [x(props.value), x(0)] : [x(0), x(props.value)];
  const error = props.error ?? 0;
  return (
    <svg class={`signed ${props.tone ?? ""}`} aria-hidden="true" width="100%" height="20">
      <rect class={props.value < 0 ? "bar under" : "bar"} x={share(from)} width={share(Math.max(to - from, 0.002))} y="4" height="12" rx="1.5" />
      <line class="axis" x1={share(x(0))} x2={share(x(0))} y1="0" y2="20" />
      {error > 0 && (
        <line class="whisker" x1={share(x(props.value - error))} x2={share(x(props.value + error))} y1="10" y2="10" />
      )}
    </svg>
  );
}
