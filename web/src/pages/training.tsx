// Curves of training, live while a run trains; several runs in one picture.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { choose, link } from "../address";
import { type Curve, Curves } from "../charts/curves";
import { Trouble } from "../loading";
import { api, get, type Log, type LogRow, Refusal, type Run, type Runs } from "../server";
import { colour, count, number, percent, states } from "../words";

interface Logged {
  rows: LogRow[];
  state: Run["state"];
  epochs: number | null;
}

const again = 2000;

function useLogs(ids: string[]): { logs: Record<string, Logged>; error: Refusal | null } {
  const [logs, setLogs] = useState<Record<string, Logged>>({});
  const [error, setError] = useState<Refusal | null>(null);
  const kept = useRef<Record<string, Logged>>({});
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const round = async (): Promise<void> => {
      let live = false;
      for (const id of ids) {
        const before = kept.current[id];
        if (before && before.state !== "training") continue;
        try {
          const log = await get<Log>(api.log(id, before?.rows.length ?? 0), stop.signal);
          // A run that was started anew has fewer rows than we hold.
          const anew = before !== undefined && log.total < before.rows.length;
          const rows = anew ? [] : [...(before?.rows ?? []), ...log.lines];
          kept.current = { ...kept.current, [id]: { rows, state: log.state, epochs: log.epochs } };
          live ||= log.state === "training" || anew;
          setError(null);
        } catch (trouble) {
          if (!(trouble instanceof Refusal)) return;
          setError(trouble);
          live = true;
        }
      }
      setLogs(kept.current);
      if (live && !stop.signal.aborted) timer = window.setTimeout(() => void round(), again);
    };
    void round();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [ids.join("\u0000")]);
  return { logs, error };
}

const known: Record<string, string> = {
  loss: "Training loss",
  train_accuracy: "Accuracy on training images",
  test_accuracy: "Accuracy on test images",
  accuracy: "Accuracy",
  learning_rate: "Learning rate",
  seconds: "Seconds per epoch",
  purity: "Purity",
  instability_ratio: "Instability ratio",
  silent_share: "Silent filters",
  dead_share: "Filters that never fire",
  effective_filters: "Effective filters",
  mean_peak: "Mean peak",
  least_served: "Filters of the least served category",
  gradient_ratio: "Filter gradient / task gradient",
  effective_samples: "Effective samples behind a filter’s weights",
  spatial_entropy: "Spatial entropy",
  category_entropy: "Category entropy",
  prior_entropy: "Prior entropy",
  softening: "Softening",
  vote: "Vote",
};
const first = ["loss", "train_accuracy", "test_accuracy", "validation/accuracy", "validation/loss", "purity", "silent_share", "effective_filters", "least_served", "mean_peak", "instability_ratio"];

const title = (key: string): string => known[key] ?? key.replaceAll("_", " ");

// A row's numbers, flat: "loss", "validation/accuracy", "new|purity" (layer before the bar).
function flat(row: LogRow): Map<string, number> {
  const numbers = new Map<string, number>();
  const add = (prefix: string, values: unknown): void => {
    if (typeof values !== "object" || values === null) return;
    for (const [key, value] of Object.entries(values)) {
      if (typeof value === "number" && key !== "epoch") numbers.set(prefix + key, value);
      if (key === "filters_per_category" && Array.isArray(value) && value.length > 0)
        numbers.set(`${prefix}least_served`, Math.min(...(value as number[])));
    }
  };
  const layers = (where: string, list: unknown): void => {
    if (!Array.isArray(list)) return;
    for (const layer of list as Record<string, unknown>[]) add(`${String(layer["layer"])}|${where}`, layer);
  };
  add("", row);
  layers("", row["layers"]);
  const validation = row["validation"];
  if (typeof validation === "object" && validation !== null) {
    add("validation/", validation);
    layers("validation/", (validation as LogRow)["layers"]);
  }
  return numbers;
}

interface Panel {
  key: string;
  title: string;
  rank: number;
  share: boolean;
  curves: Curve[];
}

function panelsOf(runs: Run[], chosen: Run[], logs: Record<string, Logged>): Panel[] {
  const panels = new Map<string, Panel>();
  for (const run of chosen) {
    (logs[run.id]?.rows ?? []).forEach((row, k) => {
      const epoch = typeof row["epoch"] === "number" ? row["epoch"] : k + 1;
      const numbers = flat(row);
      for (const [key, value] of numbers) {
        if (/_(low|high)$/.test(key)) continue;
        const [layer, measure] = key.includes("|") ? (key.split("|") as [string, string]) : ["", key];
        const bare = measure.replace("validation/", "");
        const where = layer ? `, ${layer}` : "";
        const held = measure !== bare ? ", on validation images" : "";
        const rank = first.indexOf(first.includes(measure) ? measure : bare);
        const panel = panels.get(key) ?? {
          key,
          title: (layer && bare === "loss" ? "Filter loss" : title(bare)) + where + held,
          rank: layer && bare === "loss" ? 50 : rank < 0 ? 99 : rank,
          share: /accuracy|_share$/.test(bare),
          curves: [],
        };
        panels.set(key, panel);
        let curve = panel.curves.find((one) => one.label === run.label);
        if (!curve) panel.curves.push((curve = { label: run.label, colour: colour(runs, run.id), points: [] }));
        const [low, high] = [numbers.get(`${key}_low`), numbers.get(`${key}_high`)];
        curve.points.push({ x: epoch, y: value, ...(low !== undefined && high !== undefined ? { low, high } : {}) });
      }
    });
  }
  return [...panels.values()].sort((a, b) => a.rank - b.rank || a.title.localeCompare(b.title));
}

function PerCategory(props: { run: Run; row: LogRow | undefined; colour: string }): JSX.Element | null {
  const layers = (props.row?.["layers"] ?? []) as { layer?: string; filters_per_category?: number[]; silent_share?: number }[];
  const counted = Array.isArray(layers) ? layers.filter((layer) => Array.isArray(layer.filters_per_category)) : [];
  if (counted.length === 0) return null;
  // A run in training may not say yet what its categories are called.
  const most = Math.max(...counted.map((layer) => layer.filters_per_category?.length ?? 0));
  const categories = Array.from({ length: most }, (_, k) => props.run.categories[k] ?? `category ${k + 1}`);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Filters per category of ${props.run.label}`}>
      <table class="per-category">
        <caption>
          <span class={`key line ${props.colour}`}>
            <span class="ink">{`${props.run.label}, filters per category after epoch ${String(props.row?.["epoch"])}`}</span>
          </span>
        </caption>
        <thead>
          <tr>
            <th scope="col">Layer</th>
            {categories.map((category) => (
              <th key={category} scope="col" class="number">
                {category}
              </th>
            ))}
            <th scope="col" class="number">
              silent
            </th>
          </tr>
        </thead>
        <tbody>
          {counted.map((layer) => (
            <tr key={layer.layer}>
              <th scope="row">{layer.layer}</th>
              {categories.map((category, k) => (
                <td key={category} class="number">
                  {number(layer.filters_per_category?.[k])}
                </td>
              ))}
              <td class="number">{percent(layer.silent_share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Training(props: { all: Runs; query: URLSearchParams }): JSX.Element {
  const { runs } = props.all;
  const asked = props.query.getAll("run");
  const chosen = runs.filter((run) => (asked.length > 0 ? asked.includes(run.id) : true));
  const { logs, error } = useLogs(chosen.map((run) => run.id));
  const panels = panelsOf(runs, chosen, logs);
  const everything = props.query.get("all") !== null;
  const main = panels.filter((panel) => panel.rank < 50);
  const rest = panels.filter((panel) => panel.rank >= 50);
  const live = chosen.filter((run) => logs[run.id]?.state === "training");
  return (
    <>
      <p class="kicker">Training</p>
      <h1>How they trained</h1>
      <fieldset class="run-boxes" data-export="no">
        <legend class="unseen">Runs</legend>
        {runs.map((run) => {
          const on = chosen.includes(run);
          const log = logs[run.id];
          return (
            <label key={run.id} class={colour(runs, run.id)}>
              <input
                type="checkbox"
                checked={on}
                onChange={() => choose({ run: (on ? chosen.filter((one) => one !== run) : [...chosen, run]).map((one) => one.id) })}
              />
              <span class="swatch" />
              <span class="ink">
                {run.label} <span class="hint">{log ? `${states[log.state]}, ${log.rows.length}${log.epochs ? ` of ${log.epochs}` : ""} epochs` : states[run.state]}</span>
              </span>
            </label>
          );
        })}
      </fieldset>
      <p class="note" role="status">
        {live.length > 0 ? `${live.map((run) => run.label).join(", ")}: looked at every ${again / 1000} seconds.` : ""}
      </p>
      {error && <Trouble error={error} />}
      {panels.length === 0 && !error && <p>{chosen.length === 0 ? "Choose a run." : "No epoch has ended yet."}</p>}
      <div class="curve-panels">
        {(everything ? panels : main).map((panel) => (
          <Curves key={panel.key} title={panel.title} curves={panel.curves} share={panel.share} />
        ))}
      </div>
      {rest.length > 0 && (
        <p data-export="no">
          <button type="button" class="tool" onClick={() => choose({ all: everything ? null : "1" })}>
            {everything ? "Only the main ones" : `${count(rest.length, "more curve")}`}
          </button>
        </p>
      )}
      {panels.length > 0 && (
        <section>
          <h2>Where the filters stand</h2>
          {chosen.map((run) => {
            const rows = logs[run.id]?.rows ?? [];
            return <PerCategory key={run.id} run={run} row={rows[rows.length - 1]} colour={colour(runs, run.id)} />;
          })}
          <p class="note">
            Numbers of the training log carry no intervals: they show a direction, not a result. What <code>partwise measure</code> found does:{" "}
            {chosen.map((run, k) => (
              <span key={run.id}>
                {k > 0 && ", "}
                <a href={link([run.id])}>{run.label}</a>
              </span>
            ))}
            .
          </p>
        </section>
      )}
    </>
  );
}
