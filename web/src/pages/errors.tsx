// What a network gets wrong: a cell of the confusion matrix, its images, and the parts that misled.
import type { JSX } from "preact";
import { go, link } from "../address";
import { SignedBar } from "../charts/signed_bar";
import { Trouble, useLoaded, Waiting } from "../loading";
import { api, type Cell, type Errors, type Run } from "../server";
import { count, interval, number, percent, signed } from "../words";

function Matrix(props: { run: Run; errors: Errors; truth: string | undefined; predicted: string | undefined }): JSX.Element {
  const { run, errors } = props;
  const most = Math.max(1, ...errors.confusion.flatMap((row, i) => row.filter((_, j) => i !== j)));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Confusion matrix">
      <table class="confusion">
        <caption>Rows are what it is, columns what it was taken for. Open a cell to see its images.</caption>
        <thead>
          <tr>
            <td />
            {errors.classes.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col" class="hint">
              right
            </th>
          </tr>
        </thead>
        <tbody>
          {errors.classes.map((truth, i) => {
            const row = errors.confusion[i] ?? [];
            const all = row.reduce((sum, one) => sum + one, 0);
            return (
              <tr key={truth}>
                <th scope="row">{truth}</th>
                {errors.classes.map((predicted, j) => {
                  const n = row[j] ?? 0;
                  const open = truth === props.truth && predicted === props.predicted;
                  const heat = i === j ? 0 : Math.ceil((n / most) * 5);
                  return (
                    <td key={predicted} class={i === j ? "right" : `heat-${heat}`}>
                      {n > 0 && i !== j ? (
                        <button
                          type="button"
                          class="plain"
                          aria-pressed={open}
                          aria-label={`${n} ${truth} taken for ${predicted}`}
                          onClick={() => go(open ? link([run.id, "@errors"]) : link([run.id, "@errors", truth, predicted]))}
                        >
                          {n}
                        </button>
                      ) : (
                        <span class={n === 0 ? "none" : ""}>{n}</span>
                      )}
                    </td>
                  );
                })}
                <td class="number hint">{all > 0 ? percent((row[i] ?? 0) / all) : "–"}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Confused(props: { run: Run; truth: string; predicted: string }): JSX.Element {
  const { run, truth, predicted } = props;
  const { data, error, reload } = useLoaded<Cell>(api.cell(run.id, truth, predicted));
  if (error) return <Trouble error={error} again={reload} />;
  if (!data) return <Waiting what="Explaining these images" />;
  const most = Math.max(1e-6, ...data.misled.flatMap((one) => [Math.abs(one.for_wrong ?? 0), Math.abs(one.on_right ?? 0), Math.abs(one.high ?? 0)]));
  const low = Math.max(0, ...data.misled.flatMap((one) => [-(one.for_wrong ?? 0), -(one.on_right ?? 0), -(one.low ?? 0)]));
  return (
    <section>
      <h2>{`${truth} taken for ${predicted}`}</h2>
      {data.misled.length > 0 && (
        <>
          <h3>The parts that misled</h3>
          <p>{`How much each part spoke for ${predicted} rather than ${truth} on these images, in logits, and what the same part says on ${truth} that was decided right.`}</p>
          <table class="parts misled">
            <thead>
              <tr>
                <th scope="col">Part</th>
                <th scope="col">On these images</th>
                <th scope="col">Where decided right</th>
              </tr>
            </thead>
            <tbody>
              {data.misled.map((one) => {
                const label = one.of ? `${one.part} (${one.of})` : one.part;
                const cell = (value: number | null, tone: string, range: string): JSX.Element => (
                  <span class={`bar-cell ${tone}`}>
                    <SignedBar value={value ?? 0} most={most} low={low} high={most} />
                    <span class="amount">
                      {signed(value)} <span class="hint">{range}</span>
                    </span>
                  </span>
                );
                return (
                  <tr key={label}>
                    <th scope="row">{label}</th>
                    <td>{cell(one.for_wrong, "series-3", interval(null, one.low, one.high))}</td>
                    <td>{cell(one.on_right, "series-0", "")}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </>
      )}
      {data.explained !== undefined && data.explained < data.images.length && (
        <p class="note">{`Parts were asked on ${data.explained} of these images.`}</p>
      )}
      <h3>{count(data.images.length, "image")}</h3>
      <div class="photos wide">
        {data.images.map((image) => (
          <a key={image.row} class="photo" href={link([run.id, "@photograph"], { row: image.row, against: truth })} title={image.file}>
            <span class="frame free">
              <img src={image.picture} alt={`${image.file}, ${truth} taken for ${predicted}`} loading="lazy" decoding="async" />
            </span>
            <span class="photo-words">
              <span>{image.file.split("/").pop()}</span>
              <span>{`${predicted} ${percent(image.probability)}`}</span>
            </span>
          </a>
        ))}
      </div>
    </section>
  );
}

export function ErrorsPage(props: { run: Run; truth: string | undefined; predicted: string | undefined }): JSX.Element {
  const { run, truth, predicted } = props;
  const { data, error, reload } = useLoaded<Errors>(api.errors(run.id));
  return (
    <>
      <p class="kicker">{run.label}</p>
      <h1>What it gets wrong</h1>
      {error && <Trouble error={error} again={reload} />}
      {!data && !error && <Waiting what="Counting" />}
      {data && (
        <>
          <p>{`${number(data.wrong)} of ${count(data.objects, `${run.split} image`)} were decided wrong, ${percent(data.objects > 0 ? data.wrong / data.objects : null)}.`}</p>
          <Matrix run={run} errors={data} truth={truth} predicted={predicted} />
          {truth !== undefined && predicted !== undefined && <Confused key={`${truth} ${predicted}`} run={run} truth={truth} predicted={predicted} />}
        </>
      )}
    </>
  );
}
