// What was found about a run: every number with its interval, its controls and what it means.
import type { JSX } from "preact";
import { link } from "../address";
import { Evidence } from "../charts/interval";
import { Trouble, useLoaded, Waiting } from "../loading";
import { api, type Finding, type Findings, type Run } from "../server";
import { count, states } from "../words";

function Numbers(props: { findings: Finding[] }): JSX.Element {
  const cards = (some: Finding[]): JSX.Element => (
    <div class="evidences">
      {some.map((finding) => (
        <Evidence key={finding.key} finding={finding} />
      ))}
    </div>
  );
  const leading = props.findings.filter((finding) => finding.leads !== false);
  const further = props.findings.filter((finding) => finding.leads === false);
  return (
    <>
      {cards(leading)}
      {further.length > 0 && (
        <details class="further">
          <summary>{count(further.length, "further measure")}</summary>
          {cards(further)}
        </details>
      )}
    </>
  );
}

export function RunPage(props: { run: Run }): JSX.Element {
  const { run } = props;
  const measured = run.state === "measured";
  const { data, error, reload } = useLoaded<Findings>(measured ? api.findings(run.id) : null);
  return (
    <>
      <p class="kicker">Evidence</p>
      <h1>
        {run.label} <span class={`state ${run.state}`}>{states[run.state]}</span>
      </h1>
      <p class="facts">
        <span>{run.arm}</span>
        <span>{run.net}</span>
        <span>{run.task}</span>
        {run.seed !== null && <span>{`seed ${run.seed}`}</span>}
        {run.images !== null && <span>{count(run.images, `${run.split} image`)}</span>}
        <span>{run.folder}</span>
      </p>
      {!measured && (
        <p>
          {run.state === "training" ? "It is being trained; numbers come when it has been measured." : "It has not been measured yet."} <code>{`partwise measure ${run.folder}`}</code>{" "}
          does it.
        </p>
      )}
      {!run.data.there && <p class="warnings">{run.data.why || `Its data, ${run.data.folder}, are not there.`}</p>}
      {error && <Trouble error={error} again={reload} />}
      {measured && !data && !error && <Waiting what="Reading what was found" />}
      {data && (
        <>
          {data.warnings.length > 0 && (
            <section>
              <h2>Before you believe it</h2>
              <ul class="warnings">
                {data.warnings.map((warning) => (
                  <li key={warning}>{warning}</li>
                ))}
              </ul>
            </section>
          )}
          <section>
            <h2>The whole network</h2>
            <Numbers findings={data.network} />
          </section>
          {data.layers.map((layer) => (
            <section key={layer.name}>
              <h2>
                {layer.role || layer.name} <span class="hint">{layer.name}</span>
              </h2>
              <p>
                <a href={link([run.id, layer.name])}>All its filters</a>
              </p>
              <Numbers findings={layer.findings} />
            </section>
          ))}
        </>
      )}
    </>
  );
}
