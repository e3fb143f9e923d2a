// The runs that were given: what they are, how far they are, how good and how sure.
import type { JSX } from "preact";
import { link } from "../address";
import { IntervalChart } from "../charts/interval";
import { useLoaded } from "../loading";
import { api, type Findings, type Run, type Runs } from "../server";
import { colour, count, heldAgainst, interval, percent, states } from "../words";

function Accuracy(props: { run: Run }): JSX.Element {
  const { accuracy } = props.run;
  if (!accuracy || accuracy.value === null)
    return (
      <p class="note">
        {props.run.state === "training" ? (
          <>
            It is being trained: <a href={link(["@training"], { run: [props.run.id] })}>watch its curves</a>.
          </>
        ) : (
          <>
            Not measured yet: <code>partwise measure</code> does it.
          </>
        )}
      </p>
    );
  const controls = heldAgainst(accuracy);
  const words = `${percent(accuracy.value)} ${interval(accuracy, accuracy.low, accuracy.high)}`;
  return (
    <div class="accuracy">
      <p class="amount">
        accuracy <b>{percent(accuracy.value)}</b> {interval(accuracy, accuracy.low, accuracy.high)}
        {accuracy.n !== null && <span class="hint"> n = {accuracy.n.toLocaleString("en-GB")}</span>}
      </p>
      <IntervalChart
        value={accuracy.value}
        low={accuracy.low}
        high={accuracy.high}
        controls={controls.map((one) => one.value)}
        share
        whole
        label={`Accuracy ${words}; ${controls.map((one) => one.words).join("; ")}`}
      />
    </div>
  );
}

function Warnings(props: { run: Run }): JSX.Element | null {
  const { data } = useLoaded<Findings>(props.run.state === "measured" ? api.findings(props.run.id) : null);
  if (!data || data.warnings.length === 0) return null;
  return (
    <details class="warned">
      <summary>{count(data.warnings.length, "warning")}</summary>
      <ul>
        {data.warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </details>
  );
}

function RunCard(props: { run: Run; runs: Run[] }): JSX.Element {
  const { run } = props;
  return (
    <article class={`run-card ${colour(props.runs, run.id)}`}>
      <h2>
        <a href={link([run.id])}>{run.label}</a> <span class={`state ${run.state}`}>{states[run.state]}</span>
      </h2>
      <p class="facts">
        {run.arm !== run.label && <span>{run.arm}</span>}
        <span>{run.net}</span>
        <span>{run.task}</span>
        {run.seed !== null && <span>seed {run.seed}</span>}
        {run.categories.length > 0 && <span>{count(run.categories.length, "category", "categories")}</span>}
        {run.images !== null && <span>{count(run.images, `${run.split} image`)}</span>}
      </p>
      <Accuracy run={run} />
      {run.opening && <p class="note">It is being looked at; its filters come in a moment.</p>}
      {run.learning && <p class="note">It is learning which parts its filters stand for; names come when it is done.</p>}
      {run.failure && <p class="held worse">{run.failure}</p>}
      {!run.data.there && <p class="held worse">{run.data.why || `its data, ${run.data.folder}, are not there`}</p>}
      <ul class="doors">
        {run.layers.map((layer) => (
          <li key={layer.name}>
            <a href={link([run.id, layer.name])}>
              {`Filters of ${layer.name}`} <span class="hint">{layer.filters !== null && count(layer.filters, "filter")}</span>
            </a>
          </li>
        ))}
        {run.state !== "training" && (
          <li>
            <a href={link([run.id, "@photograph"])}>Explain a photograph</a>
          </li>
        )}
        {run.state === "measured" && (
          <li>
            <a href={link([run.id, "@errors"])}>Its errors</a>
          </li>
        )}
        {run.state !== "training" && (
          <li>
            <a href={link([run.id, "@naming"])}>Name its filters</a>
          </li>
        )}
        <li>
          <a href={link(["@training"], { run: [run.id] })}>How it trained</a>
        </li>
      </ul>
      <Warnings run={run} />
    </article>
  );
}

export function Start(props: { all: Runs }): JSX.Element {
  const { runs } = props.all;
  return (
    <>
      <p class="kicker">Partwise explorer</p>
      <h1>What do the filters stand for?</h1>
      <p class="lede">
        Open a layer to see all its filters, a filter to see where it fires, or put in a photograph of your own, switch a part off and see whether the network
        behaves as it should.
      </p>
      <div class="run-cards">
        {runs.map((run) => (
          <RunCard key={run.id} run={run} runs={runs} />
        ))}
      </div>
      {runs.length > 1 && (
        <p>
          <a href={link(["@compare"], { first: runs[0]?.id, second: runs[runs.length - 1]?.id })}>Compare two of them</a>, or see{" "}
          <a href={link(["@training"], { run: runs.map((run) => run.id) })}>how all of them trained</a>.
        </p>
      )}
    </>
  );
}
