// A value with its 95 % interval and its controls on one line, and the line of words under it.
import type { JSX } from "preact";
import type { Finding } from "../server";
import { heldAgainst, hint, interval, isShare, number, shown, tick } from "../words";
import { scale, share } from "./scale";

interface Marks {
  value: number | null;
  low: number | null;
  high: number | null;
  controls?: number[];
  zero?: boolean;
  share?: boolean;
  whole?: boolean; // from 0 to 1, so that charts beside one another compare
  label: string;
}

export function IntervalChart(props: Marks): JSX.Element {
  const controls = props.controls ?? [];
  const line = scale([props.value, props.low, props.high, ...controls, ...(props.whole ? [0, 1] : [])], { zero: props.zero ?? true, steps: 2 });
  const x = (value: number): string => share(line.at(value));
  return (
    <svg class="interval" role="img" aria-label={props.label} width="100%" height="34">
      <line class="axis" x1="0" x2="100%" y1="20" y2="20" />
      {line.ticks.map((tick) => (
        <line key={tick} class="axis" x1={x(tick)} x2={x(tick)} y1="17" y2="23" />
      ))}
      <text class="tick" x="0" y="33">
        {props.share ? `${tick(100 * line.low)} %` : tick(line.low)}
      </text>
      <text class="tick end" x="100%" y="33">
        {props.share ? `${tick(100 * line.high)} %` : tick(line.high)}
      </text>
      {controls.map((control, k) => (
        <svg key={k} x={x(control)} y="20" class="over">
          <path class="control" d="M0-6 6 0 0 6-6 0Z" />
        </svg>
      ))}
      {props.low !== null && props.high !== null && (
        <>
          <line class="whisker" x1={x(props.low)} x2={x(props.high)} y1="20" y2="20" />
          <line class="whisker" x1={x(props.low)} x2={x(props.low)} y1="15" y2="25" />
          <line class="whisker" x1={x(props.high)} x2={x(props.high)} y1="15" y2="25" />
        </>
      )}
      {props.value !== null && <circle class="dot" cx={x(props.value)} cy="20" r="4.5" />}
    </svg>
  );
}

// One number as evidence: what it is, how much, how sure, against what, of how many.
export function Evidence(props: { finding: Finding; level?: 3 | 4 }): JSX.Element {
  const { finding } = props;
  const against = heldAgainst(finding);
  const Title = props.level === 4 ? "h4" : "h3";
  const value = shown(finding, finding.value);
  const range = interval(finding, finding.low, finding.high);
  return (
    <div class="evidence">
      <Title>
        {finding.title} <span class="hint">{hint(finding.better)}</span>
      </Title>
      <p class="amount">
        <b>{value}</b> {range}
        {finding.n !== null && <span class="hint"> n = {number(finding.n)}</span>}
      </p>
      {finding.value !== null && (
        <IntervalChart
          value={finding.value}
          low={finding.low}
          high={finding.high}
          controls={against.map((one) => one.value)}
          share={isShare(finding)}
          label={[`${finding.title} ${value} ${range}`, ...against.map((one) => one.words)].join("; ")}
        />
      )}
      {against.map((one) => (
        <p key={one.control} class={`held ${one.verdict}`}>
          {one.words}
        </p>
      ))}
      {finding.meaning !== "" && (
        <details class="meaning">
          <summary>What it means</summary>
          <p>{finding.meaning}</p>
        </details>
      )}
    </div>
  );
}
