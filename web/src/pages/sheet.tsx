// Naming by hand: filters in random order, without their scores, by keyboard alone.
import type { JSX } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { choose } from "../address";
import { IntervalChart } from "../charts/interval";
import { Trouble, useLoaded, Waiting } from "../loading";
import { api, Refusal, type Run, type Semantics, send, type Sheet } from "../server";
import { count, interval, number, percent } from "../words";

const keyOf = (one: { layer: string; filter: number }): string => `${one.layer}:${one.filter}`;

function Who(props: { run: Run; raters: Semantics["raters"] }): JSX.Element {
  const [name, setName] = useState("");
  const id = useId();
  return (
    <form
      class="who"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== "") choose({ rater: name.trim(), at: null });
      }}
    >
      <label for={id}>Who names?</label>{" "}
      <input id={id} value={name} autocomplete="off" maxLength={40} placeholder="your name" onInput={(event) => setName(event.currentTarget.value)} />{" "}
      <button class="tool primary" disabled={name.trim() === ""}>
        Start
      </button>
      {props.raters.length > 0 && (
        <p class="note">
          {"Go on as "}
          {props.raters.map((rater, k) => (
            <span key={rater.name}>
              {k > 0 && ", "}
              <button type="button" class="plain link" onClick={() => choose({ rater: rater.name, at: null })}>
                {rater.name}
              </button>
              {` (${rater.count})`}
            </span>
          ))}
        </p>
      )}
    </form>
  );
}

// The six strongest images, side by side; the number that would give its score away is not shown.
function Pictures(props: { pictures: string[] }): JSX.Element {
  return (
    <div class="photos sheet">
      {props.pictures.map((address, k) => (
        <span key={address} class="frame">
          <img src={address} alt={`image ${k + 1} on which this filter fires`} width="200" height="200" />
        </span>
      ))}
    </div>
  );
}

interface NamingProps {
  run: Run;
  sheet: Sheet;
  rater: string;
  query: URLSearchParams;
  done: () => void;
}

function Naming(props: NamingProps): JSX.Element {
  const { run, sheet, rater } = props;
  const [named, setNamed] = useState<Record<string, string>>(sheet.named);
  const firstOpen = (): number => {
    const open = sheet.order.findIndex((one) => !(keyOf(one) in named));
    return open < 0 ? sheet.order.length - 1 : open;
  };
  const asked = props.query.get("at");
  const at = Math.min(Math.max(0, asked === null ? firstOpen() : Number(asked) || 0), sheet.order.length - 1);
  const one = sheet.order[at];
  // What is being typed belongs to its filter: however fast one types, nothing spills over to the next.
  const [draft, setDraft] = useState({ at: -1, words: "", picked: -1 });
  const mine = draft.at === at;
  const words = mine ? draft.words : one ? (named[keyOf(one)] ?? "") : "";
  const picked = mine ? draft.picked : -1;
  const [trouble, setTrouble] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  const pinned = useRef(false);
  useEffect(() => {
    if (!pinned.current) {
      pinned.current = true;
      if (asked === null) choose({ at });
    }
    field.current?.focus();
  }, [at]);
  const used = useMemo(() => {
    const counts = new Map<string, number>();
    for (const name of Object.values(named)) if (name !== "") counts.set(name, (counts.get(name) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([name]) => name);
  }, [named]);
  const typed = words.trim().toLocaleLowerCase();
  const suggestions = used.filter((name) => name.toLocaleLowerCase().includes(typed) && name !== words.trim()).slice(0, 8);
  const done = sheet.order.filter((entry) => keyOf(entry) in named).length;
  if (!one) return <p>There is no filter to name.</p>;
  const move = (step: number): void => {
    const next = at + step;
    if (next >= sheet.order.length) props.done();
    else if (next >= 0) choose({ at: next });
  };
  const save = (name: string): void => {
    setNamed({ ...named, [keyOf(one)]: name });
    setDraft({ at: -1, words: "", picked: -1 });
    setTrouble("");
    // The next filter is shown at once; a refusal is told and the name can be given again.
    send("PUT", api.sheet(run.id, rater), { layer: one.layer, filter: one.filter, name }).catch((error: unknown) =>
      setTrouble(error instanceof Refusal ? `${name || "The skipped one"} was not kept: ${error.message}` : "It was not kept."),
    );
    move(1);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Enter") {
      event.preventDefault();
      const chosen = suggestions[picked];
      save((chosen ?? words).trim());
    } else if (event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      move(-1);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setDraft({ at, words, picked: Math.min(suggestions.length - 1, Math.max(-1, picked + step)) });
    } else if (event.key === "Escape") {
      event.preventDefault();
      props.done();
    }
  };
  return (
    <div class="naming">
      <p class="progress">
        <label for={`${id}-progress`}>{`${done} of ${sheet.order.length} done by ${rater}`}</label>
        <progress id={`${id}-progress`} value={done} max={sheet.order.length} />
      </p>
      <Pictures pictures={sheet.pictures?.[keyOf(one)] ?? []} />
      <div class="combo">
        <label for={`${id}-name`}>Which part is it?</label>
        <input
          id={`${id}-name`}
          ref={field}
          class="big"
          role="combobox"
          aria-expanded={suggestions.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={picked >= 0 ? `${id}-${picked}` : undefined}
          aria-describedby={`${id}-keys`}
          autocomplete="off"
          value={words}
          maxLength={200}
          onInput={(event) => setDraft({ at, words: event.currentTarget.value, picked: -1 })}
          onKeyDown={press}
        />
        <ul id={`${id}-list`} role="listbox" aria-label="Names used so far" class="suggestions">
          {suggestions.map((name, k) => (
            <li key={name} id={`${id}-${k}`} role="option" aria-selected={k === picked} onClick={() => save(name)}>
              {name}
            </li>
          ))}
        </ul>
      </div>
      <p id={`${id}-keys`} class="note">
        <kbd>Enter</kbd> keeps it and goes on. <kbd>Enter</kbd> on an empty field skips. <kbd>Tab</kbd> goes back. <kbd>↓</kbd> picks a name used before. <kbd>Esc</kbd>{" "}
        leaves the sheet.
      </p>
      {trouble && (
        <p role="alert" class="held worse">
          {trouble}
        </p>
      )}
    </div>
  );
}

function Table(props: { semantics: Semantics }): JSX.Element {
  const { raters, table, agreement } = props.semantics;
  return (
    <section>
      <h2>The table of semantics</h2>
      {agreement ? (
        <div class="evidence agreement">
          <p>
            {`${agreement.first} and ${agreement.second} both named ${count(agreement.n, "filter")}. They gave the same name to ${percent(agreement.same)}; by chance it would be ${percent(agreement.by_chance)}. `}
            Cohen’s kappa: <b>{number(agreement.kappa)}</b> {interval(null, agreement.low, agreement.high)}.
          </p>
          <IntervalChart
            value={agreement.kappa}
            low={agreement.low}
            high={agreement.high}
            controls={[0]}
            label={`kappa ${number(agreement.kappa)} ${interval(null, agreement.low, agreement.high)}, 0 is chance`}
          />
        </div>
      ) : (
        <p class="note">{`How far two raters agree is shown once two have named the same filters; ${raters.length === 0 ? "nobody has begun" : `so far: ${raters.map((one) => `${one.name} (${one.count})`).join(", ")}`}.`}</p>
      )}
      {table.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of semantics">
          <table>
            <caption>Of the filters of a category that a rater named: which share stands for which part.</caption>
            <thead>
              <tr>
                <th scope="col">Rater</th>
                <th scope="col">Layer</th>
                <th scope="col">Category</th>
                <th scope="col">Part</th>
                <th scope="col" class="number">
                  Share
                </th>
                <th scope="col" class="number">
                  Filters
                </th>
              </tr>
            </thead>
            <tbody>
              {table.map((row) => (
                <tr key={`${row.rater} ${row.layer} ${row.category} ${row.name}`}>
                  <td>{row.rater}</td>
                  <td>{row.layer}</td>
                  <td>{row.category}</td>
                  <th scope="row">{row.name || "no part"}</th>
                  <td class="number">{percent(row.share)}</td>
                  <td class="number">{`${row.filters} of ${row.of}`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

export function NamingSheet(props: { run: Run; query: URLSearchParams }): JSX.Element {
  const { run, query } = props;
  const rater = query.get("rater");
  const table = query.get("table") !== null;
  const sheet = useLoaded<Sheet>(rater !== null && !table ? api.sheet(run.id, rater) : null);
  const semantics = useLoaded<Semantics>(rater === null || table ? `${api.semantics(run.id)}${table ? "?" : ""}` : null);
  return (
    <>
      <p class="kicker">{run.label}</p>
      <h1>Name the filters by hand</h1>
      {rater === null && (
        <p class="lede">
          You see where a filter fires, in random order and without its scores, and say which part it is. Two people who do so independently show how far such names can be trusted.
        </p>
      )}
      {sheet.error && <Trouble error={sheet.error} again={sheet.reload} />}
      {semantics.error && <Trouble error={semantics.error} again={semantics.reload} />}
      {rater === null && semantics.data && <Who run={run} raters={semantics.data.raters} />}
      {rater !== null && !table && !sheet.data && !sheet.error && <Waiting what="Shuffling the filters" />}
      {rater !== null && !table && sheet.data && (
        <Naming run={run} sheet={sheet.data} rater={rater} query={query} done={() => choose({ table: "1" })} />
      )}
      {rater !== null && (
        <p class="tools" data-export="no">
          {table ? (
            <button type="button" class="tool" onClick={() => choose({ table: null })}>
              {`Go on naming as ${rater}`}
            </button>
          ) : (
            <button type="button" class="tool" onClick={() => choose({ table: "1" })}>
              To the table
            </button>
          )}
          <button type="button" class="tool" onClick={() => choose({ rater: null, table: null, at: null })}>
            Someone else
          </button>
        </p>
      )}
      {(rater === null || table) && semantics.data && <Table semantics={semantics.data} />}
    </>
  );
}
