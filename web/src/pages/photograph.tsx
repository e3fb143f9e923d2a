// A photograph put in: the decision, the parts behind it, and what happens when parts are switched off.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { choose, link } from "../address";
import { SignedBar } from "../charts/signed_bar";
import { patiently, Trouble, Waiting } from "../loading";
import { api, type Explained, type Part, Refusal, type Run, send, type Silenced } from "../server";
import { number, percent, signed } from "../words";

const labelOf = (part: Part): string => part.label ?? (part.of === "" ? part.name : `${part.name} (${part.of})`);

// Photographs live as long as the page does: the address names them, the bytes stay here.
const photographs = new Map<string, { blob: Blob; name: string }>();
let lastNumber = 0;

const toneOf = (k: number): string => `series-${1 + (k % 7)}`;

interface Label {
  k: number;
  label: string;
  text: string;
  half: number;
  x: number;
  y: number;
}

// Labels that would lie on one another are moved down.
function placed(labels: Label[], line: number): Label[] {
  const done: Label[] = [];
  for (const label of [...labels].sort((a, b) => a.y - b.y)) {
    let y = label.y;
    for (const other of done) {
      if (Math.abs(other.x - label.x) < other.half + label.half && Math.abs(other.y - y) < line) y = other.y + line;
    }
    done.push({ ...label, y });
  }
  return done;
}

type Corner = { x: number; y: number };

// A box that is drawn with the pointer, in pixels of the photograph.
function useFrame(width: number, height: number, can: boolean) {
  const [corners, set] = useState<{ from: Corner; to: Corner } | null>(null);
  const at = (event: PointerEvent): Corner => {
    const matrix = (event.currentTarget as SVGSVGElement).getScreenCTM();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix?.inverse());
    const within = (value: number, most: number): number => Math.round(Math.min(Math.max(value, 0), most));
    return { x: within(point.x, width), y: within(point.y, height) };
  };
  const drawn = corners && {
    x: Math.min(corners.from.x, corners.to.x),
    y: Math.min(corners.from.y, corners.to.y),
    width: Math.abs(corners.from.x - corners.to.x),
    height: Math.abs(corners.from.y - corners.to.y),
  };
  const large = drawn !== null && drawn.width * 20 > width && drawn.height * 20 > height;
  const on = can
    ? {
        onPointerDown: (event: PointerEvent) => {
          if (event.pointerType === "mouse" && event.button === 0) set({ from: at(event), to: at(event) });
        },
        onPointerMove: (event: PointerEvent) => {
          if (corners) set({ from: corners.from, to: at(event) });
        },
        onPointerUp: () => {
          if (large && drawn) choose({ box: `${drawn.x},${drawn.y},${drawn.width},${drawn.height}`, off: [] });
          set(null);
        },
        onPointerLeave: () => set(null),
      }
    : {};
  return { drawn: large ? drawn : null, on };
}

function Overlay(props: { explained: Explained; off: string[]; lit: string; light: (label: string) => void; canFrame: boolean }): JSX.Element {
  const { explained, off } = props;
  const frame = useFrame(explained.width, explained.height, props.canFrame);
  const { parts, box, decision } = explained.explanation;
  const { width, height } = explained;
  const unit = Math.max(width, height) / 100;
  const outlined = parts.flatMap((part, k) => (part.outlines?.length ? [{ part, k, label: labelOf(part) }] : []));
  // A part without an outline leaves the others as they are.
  const lit = outlined.some((one) => one.label === props.lit) ? props.lit : "";
  const size = unit * 4;
  const labels = placed(
    outlined.map(({ part, k, label }) => {
      const points = part.outlines?.[0] ?? [];
      const middle = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / (points.length || 1);
      const [x, y] = part.place ?? [middle(0), middle(1)];
      const text = label.length > 24 ? `${label.slice(0, 23)}…` : label;
      const half = (text.length * size * 0.6) / 2;
      return { k, label, text, half, x: Math.min(Math.max(x, half), width - half), y: Math.min(Math.max(y, size), height - size / 2) };
    }),
    size * 1.15,
  );
  const whole = box[0] <= 0 && box[1] <= 0 && box[2] >= width && box[3] >= height;
  return (
    <svg
      class={props.canFrame ? "overlay framed" : "overlay"}
      {...frame.on}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`The photograph, decided as ${decision}; outlined: ${outlined.map((one) => one.label).join(", ") || "nothing"}`}
    >
      <image href={explained.picture} width={width} height={height} preserveAspectRatio="none" />
      {!whole && <rect class="box" x={box[0]} y={box[1]} width={box[2]} height={box[3]} stroke-width={unit * 0.5} />}
      {outlined.map(({ part, k, label }) => (
        <g
          key={label}
          class={["outline", toneOf(k), off.includes(label) ? "off" : "", lit && lit !== label ? "faint" : ""].join(" ")}
          onPointerEnter={() => props.light(label)}
          onPointerLeave={() => props.light("")}
          onClick={() => props.light(label)}
        >
          {part.outlines?.map((outline, j) => {
            const d = `M${outline.map((point) => point.join(" ")).join("L")}Z`;
            return (
              <g key={j}>
                <path class="halo" d={d} stroke-width={unit * 1.5} />
                <path class={part.share < 0 ? "line against" : "line"} d={d} stroke-width={unit * 0.8} stroke-dasharray={part.share < 0 ? `${unit * 2} ${unit * 1.4}` : undefined} />
              </g>
            );
          })}
        </g>
      ))}
      {frame.drawn && <rect class="box" {...frame.drawn} stroke-width={unit * 0.6} />}
      {labels.map(({ k, label, text, x, y }) => (
        <text
          key={label}
          class={`part-label ${toneOf(k)} ${off.includes(label) ? "off" : lit && lit !== label ? "faint" : ""}`}
          x={x}
          y={y}
          font-size={size}
          stroke-width={unit * 1.1}
        >
          {text}
        </text>
      ))}
    </svg>
  );
}

function Filters(props: { run: Run; explained: Explained; part: Part }): JSX.Element {
  const { run, explained, part } = props;
  const { layer, filters } = explained.explanation;
  const mine = filters.filter((one) => part.filters.includes(one.filter));
  const shown = mine.length ? mine : part.filters.map((filter) => ({ filter, category: part.of, name: part.name, share: null }));
  return (
    <div class="tiles small">
      {shown.map((one) => (
        <a key={one.filter} class="tile" href={link([run.id, layer, one.filter])}>
          <img src={api.tile(run.id, layer, one.filter)} alt="filter" loading="lazy" width="72" height="72" />
          <span class="tile-words">
            <span>{one.filter}</span>
            <span>{signed(one.share)}</span>
          </span>
        </a>
      ))}
    </div>
  );
}

function Effect(props: { explained: Explained; result: Silenced; off: string[] }): JSX.Element {
  const { explained, result } = props;
  const { explanation } = explained;
  const asked = explanation.evidence.for;
  const bars: [string, number | null][] = [
    ["predicted, by the shares", result.predicted],
    ["predicted, by the distilled sum", result.additive],
    ["actual", result.actual],
  ];
  const values = bars.map(([, value]) => value ?? 0);
  const most = Math.max(...values.map(Math.abs), 1e-6);
  const reach = { most, low: Math.max(...values.map((value) => -value), most / 12), high: Math.max(...values, most / 12) };
  const changed = result.decision !== explanation.decision;
  return (
    <section class="effect" aria-live="polite">
      <h2>{`Without ${props.off.join(", ")}`}</h2>
      <p class="verdict">
        {`The score of ${asked} changes by ${signed(result.actual)}`}
        {result.predicted !== null && `; the shares predicted ${signed(result.predicted)}`}
        {". "}
        {changed ? (
          <>
            It is now taken for <b>{result.decision}</b> ({percent(result.probability)}).
          </>
        ) : (
          <>
            It stays <b>{result.decision}</b>, {percent(explanation.probability)} before, {percent(result.probability)} now.
          </>
        )}
      </p>
      <dl class="bars">
        {bars.map(([words, value]) =>
          value === null ? null : (
            <div key={words}>
              <dt>{words}</dt>
              <dd>
                <SignedBar value={value} {...reach} tone={words === "actual" ? "actual" : "claimed"} />
                <span class="amount">{signed(value)}</span>
              </dd>
            </div>
          ),
        )}
      </dl>
      <details>
        <summary>Probabilities now</summary>
        <dl class="bars">
          {Object.entries(result.probabilities)
            .sort(([, a], [, b]) => b - a)
            .map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <SignedBar value={value} most={1} low={0} high={1} />
                  <span class="amount">{percent(value)}</span>
                </dd>
              </div>
            ))}
        </dl>
      </details>
      <p class="note">
        Switched off means: the filters of these parts are silenced in the network. A share is fair over all orders of switching off, so one part alone may change the score by
        more or less than its share.
      </p>
    </section>
  );
}

function PartsTable(props: {
  run: Run;
  explained: Explained;
  off: string[];
  open: string;
  light: (label: string) => void;
}): JSX.Element {
  const { run, explained, off } = props;
  const { parts, evidence, against, exact, orders, completeness_error: left } = explained.explanation;
  const reach = (pick: (part: Part) => number): { low: number; high: number; most: number } => ({
    most: 1,
    low: Math.max(0, ...parts.map((part) => -pick(part))) || 0.001,
    high: Math.max(0, ...parts.map(pick)) || 0.001,
  });
  const [why, not] = [reach((part) => part.share), reach((part) => part.contrast)];
  const toggle = (label: string): void => choose({ off: off.includes(label) ? off.filter((one) => one !== label) : [...off, label] });
  return (
    <>
      <table class="parts">
        <caption>
          {exact ? "Exact shares" : `Shares from ${orders} random orders, with their standard errors`} in logits; they add up to the evidence within{" "}
          {number(Math.abs(left))}.
        </caption>
        <thead>
          <tr>
            <th scope="col">On</th>
            <th scope="col">Part</th>
            <th scope="col">{`Why ${evidence.for}`}</th>
            <th scope="col">{against ? `And not ${against}` : "And not another"}</th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part, k) => {
            const label = labelOf(part);
            const open = props.open === label;
            return [
              <tr key={label} class={off.includes(label) ? "off" : ""} onPointerEnter={() => props.light(label)} onPointerLeave={() => props.light("")}>
                <td>
                  <input type="checkbox" aria-label={`${label} on`} checked={!off.includes(label)} onChange={() => toggle(label)} />
                </td>
                <th scope="row">
                  <button type="button" class={`plain ${toneOf(k)}`} aria-expanded={open} onClick={() => choose({ part: open ? null : label })}>
                    <span class="swatch" />
                    <span class="ink">{label}</span>
                  </button>
                </th>
                <td>
                  <span class={`bar-cell ${toneOf(k)}`}>
                    <SignedBar value={part.share} error={part.share_error} {...why} />
                    <span class="amount">
                      {signed(part.share)}
                      {part.share_error > 0 && <span class="hint">{` ± ${number(part.share_error)}`}</span>}
                    </span>
                  </span>
                </td>
                <td>
                  <span class={`bar-cell ${toneOf(k)}`}>
                    <SignedBar value={part.contrast} error={part.contrast_error} {...not} />
                    <span class="amount">
                      {signed(part.contrast)}
                      {part.contrast_error > 0 && <span class="hint">{` ± ${number(part.contrast_error)}`}</span>}
                    </span>
                  </span>
                </td>
              </tr>,
              open && (
                <tr key={`${label} filters`} class="opened">
                  <td colSpan={4}>
                    <Filters run={run} explained={explained} part={part} />
                  </td>
                </tr>
              ),
            ];
          })}
        </tbody>
      </table>
      <p class="tools" data-export="no">
        <button type="button" class="tool" disabled={off.length === 0} onClick={() => choose({ off: [] })}>
          All on
        </button>
        <button type="button" class="tool" onClick={() => choose({ off: parts.map(labelOf) })}>
          All off
        </button>
      </p>
    </>
  );
}

function Choose(props: { run: Run; query: URLSearchParams; take: (file: Blob, name: string) => void }): JSX.Element {
  const { run, query } = props;
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const images = run.images ?? 0;
  const row = query.get("row");
  const show = (value: number): void => choose({ row: String(((value % images) + images) % images), photo: null, off: [], part: null, box: null });
  useEffect(() => {
    const paste = (event: ClipboardEvent): void => {
      const file = [...(event.clipboardData?.files ?? [])].find((one) => one.type.startsWith("image/"));
      if (file) props.take(file, file.name || "pasted");
    };
    addEventListener("paste", paste);
    return () => removeEventListener("paste", paste);
  });
  return (
    <div class="choose" data-export="no">
      <label
        class={over ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          const file = event.dataTransfer?.files[0];
          if (file) props.take(file, file.name);
        }}
      >
        <input
          ref={input}
          type="file"
          accept="image/png,image/jpeg"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file) props.take(file, file.name);
            event.currentTarget.value = "";
          }}
        />
        <span>
          <b>Drop a photograph here</b>, paste one, or choose a file. JPEG or PNG; it does not leave this machine’s server.
        </span>
      </label>
      {images > 0 && run.data.there && (
        <form class="row-choice" onSubmit={(event) => event.preventDefault()}>
          <label>
            or image{" "}
            <input
              type="number"
              min={0}
              max={images - 1}
              value={row ?? ""}
              onChange={(event) => event.currentTarget.value !== "" && show(Number(event.currentTarget.value))}
            />{" "}
            {`of ${images.toLocaleString("en-GB")} ${run.split} images`}
          </label>
          <span class="tools">
            <button type="button" class="tool" disabled={row === null} onClick={() => show(Number(row) - 1)}>
              ← previous
            </button>
            <button type="button" class="tool" onClick={() => show(Math.floor(Math.random() * images))}>
              any
            </button>
            <button type="button" class="tool" disabled={row === null} onClick={() => show(Number(row) + 1)}>
              next →
            </button>
          </span>
        </form>
      )}
    </div>
  );
}

function useExplained(run: Run, row: string | null, photo: string | null, against: string, box: string) {
  const [state, set] = useState<{ key: string; data: Explained | null; error: Refusal | null }>({ key: "", data: null, error: null });
  const key = JSON.stringify([run.id, row, photo, against, box]);
  const [round, again] = useState(0);
  useEffect(() => {
    const kept = photo === null ? undefined : photographs.get(photo);
    if (row === null && kept === undefined) return;
    const stop = new AbortController();
    const ask = (): Promise<Explained> =>
      kept
        ? send<Explained>("POST", api.explain(run.id, against, box), kept.blob, stop.signal)
        : send<Explained>("POST", api.explainRow(run.id, Number(row), against), {}, stop.signal);
    patiently(ask, stop.signal).then(
      (data) => set({ key, data, error: null }),
      (error: unknown) => {
        if (error instanceof Refusal) set({ key, data: null, error });
      },
    );
    return () => stop.abort();
  }, [key, round]);
  const mine = state.key === key;
  // While another class is being asked about, the last answer stays on screen; it names its own class.
  return { data: mine ? state.data : null, error: mine ? state.error : null, again: () => again((n) => n + 1) };
}

function useSilenced(explained: Explained | null, off: string[], again: () => void) {
  const [state, set] = useState<{ key: string; data: Silenced | null; error: Refusal | null }>({ key: "", data: null, error: null });
  const key = explained && off.length > 0 ? JSON.stringify([explained.photo, off]) : "";
  useEffect(() => {
    if (!explained || off.length === 0) return;
    const stop = new AbortController();
    send<Silenced>("POST", api.silence(explained.photo), { parts: off }, stop.signal).then(
      (data) => set({ key, data, error: null }),
      (error: unknown) => {
        if (!(error instanceof Refusal)) return;
        if (error.status === 404) again();
        set({ key, data: null, error });
      },
    );
    return () => stop.abort();
  }, [key]);
  return key !== "" && state.key === key ? state : { data: null, error: null };
}

export function Photograph(props: { run: Run; query: URLSearchParams }): JSX.Element {
  const { run, query } = props;
  const [row, photo, against] = [query.get("row"), query.get("photo"), query.get("against") ?? ""];
  const [lit, light] = useState("");
  const box = query.get("box") ?? "";
  const { data, error, again } = useExplained(run, row, photo, against, photo === null ? "" : box);
  const known = new Set(data?.explanation.parts.map(labelOf));
  const off = query.getAll("off").filter((one) => data === null || known.has(one));
  const silenced = useSilenced(data, off, again);
  const take = (blob: Blob, name: string): void => {
    const id = String(++lastNumber);
    photographs.clear();
    photographs.set(id, { blob, name });
    choose({ photo: id, row: null, off: [], part: null, box: null });
  };
  const lost = photo !== null && !photographs.has(photo) && row === null;
  const asked = row !== null || (photo !== null && !lost);
  const open = query.get("part") ?? "";
  const explanation = data?.explanation;
  return (
    <>
      <p class="kicker">{run.label}</p>
      <h1>Explain a photograph</h1>
      <Choose run={run} query={query} take={take} />
      {!run.data.there && <p class="note">{`Images of the data cannot be shown: ${run.data.why}`}</p>}
      {run.ready !== false && !run.knows_parts && <p class="note">This run does not know its parts yet, so filters go by the category they stand for.</p>}
      {lost && <p>That photograph was put in before this page was loaded anew. Put it in again.</p>}
      {error && <Trouble error={error} />}
      {asked && !data && !error && <Waiting what="Looking at it" />}
      {data && explanation && (
        <div class="explained">
          <div class="look">
            <Overlay explained={data} off={off} lit={lit || open} light={light} canFrame={photo !== null} />
            {photo !== null && (
              <p class="framing" data-export="no">
                <label>
                  Draw a box around the object, or write it{" "}
                  <input
                    value={box}
                    placeholder="x,y,width,height"
                    onChange={(event) => choose({ box: event.currentTarget.value.replace(/\s+/g, ""), off: [] })}
                  />
                </label>{" "}
                {box !== "" && (
                  <button type="button" class="tool" onClick={() => choose({ box: null, off: [] })}>
                    Whole image
                  </button>
                )}
              </p>
            )}
            <p class="note">{(photo !== null && photographs.get(photo)?.name) || `${run.split} image ${row}`}. Dashed: speaks against.</p>
          </div>
          <div class="why">
            <p class="decision">
              <b>{explanation.decision}</b> {percent(explanation.probability)}
              <span class="hint">{` then ${explanation.against} ${percent(explanation.against_probability)}`}</span>
            </p>
            <p>
              {explanation.evidence.by_default
                ? `Its score is no higher than that of a layer that sees nothing: it won because the others lost.`
                : `Evidence for ${explanation.evidence.for}: ${number(explanation.evidence.above_baseline)} logits${
                    explanation.evidence.training_images_with_less === null
                      ? ""
                      : `, more than ${percent(explanation.evidence.training_images_with_less).replace(/\.\d+/, "")} of its training images gave`
                  }.`}
              {explanation.evidence.weak && <span class="worse"> That is weak.</span>}
            </p>
            <label class="against" data-export="no">
              Why not{" "}
              <select value={against} onChange={(event) => choose({ against: event.currentTarget.value })}>
                <option value="">the runner-up</option>
                {run.classes
                  .filter((one) => one !== explanation.decision)
                  .map((one) => (
                    <option key={one} value={one}>
                      {one}
                    </option>
                  ))}
              </select>
            </label>
            <PartsTable run={run} explained={data} off={off} open={open} light={light} />
            {silenced.error && silenced.error.status !== 404 && <Trouble error={silenced.error} />}
            {silenced.data && <Effect explained={data} result={silenced.data} off={off} />}
          </div>
        </div>
      )}
    </>
  );
}
