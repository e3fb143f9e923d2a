// Two runs side by side: paired differences with their verdicts, and which filter of one became which of the other.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { choose, link } from "../address";
import { IntervalChart } from "../charts/interval";
import { Trouble, useLoaded, Waiting } from "../loading";
import { api, type Comparison, type Match, type Run, type Runs } from "../server";
import { colour, count, interval, isShare, number, type Of, shown, signed, verdictOf, verdictWords } from "../words";

function RunSelect(props: { label: string; name: string; runs: Run[]; value: string }): JSX.Element {
  return (
    <label>
      {props.label}{" "}
      <select value={props.value} onChange={(event) => choose({ [props.name]: event.currentTarget.value })}>
        {props.runs.map((run) => (
          <option key={run.id} value={run.id}>
            {run.label}
          </option>
        ))}
      </select>
    </label>
  );
}

function difference(of: Of, value: number | null): string {
  return isShare(of) ? (value === null ? "–" : `${signed(100 * value)} points`) : signed(value);
}

function Numbers(props: { first: Run; second: Run; numbers: Comparison["numbers"] }): JSX.Element {
  const roles = [...new Set(props.numbers.map((one) => one.role))];
  return (
    <>
      {roles.map((role) => (
        <section key={role}>
          <h2>{role || "The whole network"}</h2>
          <div class="scroll" tabIndex={0} role="region" aria-label={`Differences, ${role || "the whole network"}`}>
            <table class="differences">
              <caption>
                {`${props.second.label} minus ${props.first.label}, on the same images. Better and worse are said only where the 95 % interval leaves out 0.`}
              </caption>
              <thead>
                <tr>
                  <th scope="col">Measure</th>
                  <th scope="col" class="number">{props.first.label}</th>
                  <th scope="col" class="number">{props.second.label}</th>
                  <th scope="col" class="number">Difference</th>
                  <th scope="col" class="wide">95 % interval</th>
                  <th scope="col">Verdict</th>
                </tr>
              </thead>
              <tbody>
                {props.numbers
                  .filter((one) => one.role === role)
                  .map((one) => (
                    <tr key={one.key}>
                      <th scope="row">{one.title}</th>
                      <td class="number">{shown(one, one.first)}</td>
                      <td class="number">{shown(one, one.second)}</td>
                      <td class="number">
                        {difference(one, one.difference)} <span class="small">{interval(one, one.low, one.high)}</span>
                      </td>
                      <td class="wide">
                        <IntervalChart
                          value={one.difference}
                          low={one.low}
                          high={one.high}
                          controls={[0]}
                          share={isShare(one)}
                          label={`difference ${signed(one.difference)} ${interval(one, one.low, one.high)}`}
                        />
                      </td>
                      <td class={verdictOf(one.verdict, one.better)}>{verdictWords(one.verdict, one.better)}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </div>
        </section>
      ))}
    </>
  );
}

function Pair(props: { runs: [Run, Run]; layers: [string, string]; match: Match }): JSX.Element {
  const { runs, layers, match } = props;
  const side = (run: Run, layer: string, filter: number, name: string): JSX.Element => (
    <a class="tile" href={link([run.id, layer, filter])}>
      <img src={api.tile(run.id, layer, filter)} alt={`${run.label}, filter`} loading="lazy" decoding="async" width="112" height="112" />
      <span class="tile-words">
        <span>{filter}</span>
        <span>{name}</span>
      </span>
    </a>
  );
  const same = match.first_name !== "" && match.first_name === match.second_name;
  return (
    <li class="match">
      {side(runs[0], layers[0], match.first, match.first_name)}
      <span class="arrow" aria-hidden="true">
        →
      </span>
      {side(runs[1], layers[1], match.second, match.second_name)}
      <p class="note">
        correlation <b>{number(match.correlation)}</b>
        {same ? ", same name" : ""}
      </p>
    </li>
  );
}

const perPage = 60;

function Matches(props: { runs: [Run, Run]; comparison: Comparison; query: URLSearchParams }): JSX.Element | null {
  const { comparison, query } = props;
  const [pages, setPages] = useState(1);
  const asked = query.get("role");
  const layer = comparison.layers.find((one) => one.role === asked) ?? comparison.layers[comparison.layers.length - 1];
  if (!layer) return null;
  const changed = query.get("sort") === "change";
  const words = (query.get("q") ?? "").toLocaleLowerCase();
  const value = (match: Match): number => match.correlation ?? -2;
  const matches = layer.matches
    .filter((match) => `${match.first} ${match.second} ${match.first_name} ${match.second_name}`.toLocaleLowerCase().includes(words))
    .sort((a, b) => (changed ? value(a) - value(b) : value(b) - value(a)));
  const renamed = layer.matches.filter((match) => match.first_name !== "" && match.first_name === match.second_name).length;
  return (
    <section>
      <h2>Which filter became which</h2>
      <p>
        {`Each filter of ${layer.first_layer} is paired with one filter of ${layer.second_layer}, so that the peaks of all pairs over the same images correlate as much as possible. `}
        {`${renamed} of ${count(layer.matches.length, "pair")} carry the same name.`}
      </p>
      <form class="controls" data-export="no" onSubmit={(event) => event.preventDefault()}>
        {comparison.layers.length > 1 && (
          <label>
            Layer{" "}
            <select value={layer.role} onChange={(event) => choose({ role: event.currentTarget.value })}>
              {comparison.layers.map((one) => (
                <option key={one.role} value={one.role}>
                  {one.role}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          Sort by{" "}
          <select value={changed ? "change" : ""} onChange={(event) => choose({ sort: event.currentTarget.value })}>
            <option value="">correlation, highest first</option>
            <option value="change">change, most changed first</option>
          </select>
        </label>
        <label class="search">
          Search <input type="search" value={query.get("q") ?? ""} placeholder="name or number" onInput={(event) => choose({ q: event.currentTarget.value })} />
        </label>
      </form>
      {matches.length === 0 && <p>No pair is like that.</p>}
      <ul class="matches">
        {matches.slice(0, pages * perPage).map((match) => (
          <Pair key={match.first} runs={props.runs} layers={[layer.first_layer, layer.second_layer]} match={match} />
        ))}
      </ul>
      {matches.length > pages * perPage && (
        <button type="button" class="tool" onClick={() => setPages(pages + 1)}>
          {`Show ${Math.min(perPage, matches.length - pages * perPage)} more`}
        </button>
      )}
    </section>
  );
}

export function Compare(props: { all: Runs; query: URLSearchParams }): JSX.Element {
  const { runs } = props.all;
  const find = (name: string, otherwise: number): Run | undefined => runs.find((run) => run.id === props.query.get(name)) ?? runs[otherwise];
  const first = find("first", 0);
  const second = find("second", runs.length - 1);
  const two = first && second && first.id !== second.id;
  const { data, error, reload } = useLoaded<Comparison>(two ? api.compare(first.id, second.id) : null);
  return (
    <>
      <p class="kicker">Compare</p>
      <h1>
        {first && second ? (
          <>
            <span class={colour(runs, first.id)}>{first.label}</span> <span class="sub">against</span> <span class={colour(runs, second.id)}>{second.label}</span>
          </>
        ) : (
          "Two runs"
        )}
      </h1>
      {first && second && (
        <form class="controls" data-export="no" onSubmit={(event) => event.preventDefault()}>
          <RunSelect label="First" name="first" runs={runs} value={first.id} />
          <button type="button" class="tool" onClick={() => choose({ first: second.id, second: first.id })}>
            swap
          </button>
          <RunSelect label="Second" name="second" runs={runs} value={second.id} />
        </form>
      )}
      {!two && <p>Choose two different runs. Give several to the program to compare them: <code>partwise serve RUN RUN</code>.</p>}
      {error && <Trouble error={error} again={reload} />}
      {two && !data && !error && <Waiting what="Matching their filters" />}
      {two && data && (
        <>
          {data.difference && <p class="warnings">{data.difference}</p>}
          {data.not_paired && <p class="note">{`Not paired: ${data.not_paired}`}</p>}
          {data.numbers.length > 0 && <Numbers first={first} second={second} numbers={data.numbers} />}
          {data.not_matched && <p class="warnings">{`Their filters cannot be matched: ${data.not_matched}`}</p>}
          <Matches key={`${first.id} ${second.id}`} runs={[first, second]} comparison={data} query={props.query} />
        </>
      )}
    </>
  );
}
