// Runs every case of write_onnx_cases in onnxruntime and compares with what LibTorch computed:
//   node agree.mjs FOLDER
import fs from 'node:fs';
import path from 'node:path';
import ort from 'onnxruntime-node';

const TOLERANCE = 1e-4; // of a tensor's largest value: two orders of summation, some twenty layers deep
const NEAR_TIE = 1e-5; // of a map's largest value: two cells so close may change places
const NEAR_HALF = 1e-4; // cells: a centre of mass so close to the edge of two may be rounded either way

const product = (shape) => shape.reduce((a, b) => a * b, 1);

function readTensor(folder, name, shape) {
  const bytes = fs.readFileSync(path.join(folder, `${name}.bin`));
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const data = name.endsWith('.peaks') ? new BigInt64Array(buffer) : new Float32Array(buffer);
  if (data.length !== product(shape)) throw new Error(`${name}.bin: ${data.length} values for ${shape}`);
  return { data, shape };
}

const firstRows = ({ data, shape }, rows) => ({
  data: data.subarray(0, (data.length / shape[0]) * rows),
  shape: [rows, ...shape.slice(1)],
});

// Largest difference over largest expected value, leaving out whole items (rows or maps); NaN counts as infinite.
function relativeDifference(actual, expected, itemSize, leftOut) {
  let difference = 0;
  let largest = 0;
  for (let i = 0; i < expected.length; ++i) {
    largest = Math.max(largest, Math.abs(expected[i]));
    if (leftOut(Math.floor(i / itemSize))) continue;
    const off = Math.abs(actual[i] - expected[i]);
    difference = Number.isNaN(off) ? Infinity : Math.max(difference, off);
  }
  return difference === 0 ? 0 : difference / largest;
}

// Whether peaks a and b of one map are both right within rounding. Cells of a silent map are exactly equal everywhere,
// so there the rule for ties must hold.
function bothRight(map, side, a, b, peak) {
  if (!(Math.max(...map) > 0)) return false;
  if (peak === 'argmax') {
    return Math.abs(map[a[0] * side + a[1]] - map[b[0] * side + b[1]]) <= NEAR_TIE * Math.max(...map);
  }
  const centre = [0, 0];
  let total = 0;
  map.forEach((value, cell) => {
    total += value;
    centre[0] += value * Math.floor(cell / side);
    centre[1] += value * (cell % side);
  });
  return [0, 1].every((axis) => {
    const at = centre[axis] / total;
    return a[axis] === b[axis] || Math.abs(at - Math.floor(at) - 0.5) < NEAR_HALF;
  });
}

const peakOf = (peaks, map) => [Number(peaks[2 * map]), Number(peaks[2 * map + 1])];

// One batch through the runtime, tensor by tensor in the order of the network. Behind a mask that moved because two
// cells were as good as equal a row says nothing any more: it is set aside.
class Comparison {
  problems = [];
  worst = { logits: 0, maps: 0, masked: 0 };
  peaks = 0;
  flips = 0;
  aside = new Set();

  constructor(actual, expected) {
    this.actual = actual;
    this.expected = expected;
  }

  // Whether the output is there, in its shape.
  present(name) {
    const [found, wanted] = [this.actual[name]?.dims, this.expected[name].shape];
    if (`${found}` === `${wanted}`) return true;
    this.problems.push(`${name}: shape ${found}, expected ${wanted}`);
    return false;
  }

  values(kind, name, movedMaps = new Set()) {
    if (!this.present(name)) return;
    const [rows, items] = this.expected[name].shape;
    const leftOut = (item) => movedMaps.has(item) || this.aside.has(Math.floor(item / items));
    const size = this.expected[name].data.length / (rows * items);
    const off = relativeDifference(this.actual[name].data, this.expected[name].data, size, leftOut);
    this.worst[kind] = Math.max(this.worst[kind], off);
    if (!(off <= TOLERANCE)) this.problems.push(`${name}: off by ${off.toExponential(1)} of its largest value`);
  }

  // The maps whose peaks differ.
  movedPeaks(name, maps, peak) {
    const moved = new Set();
    if (!this.present(name)) return moved;
    const [, filters, side] = maps.shape;
    for (let map = 0; map < this.expected[name].data.length / 2; ++map) {
      if (this.aside.has(Math.floor(map / filters))) continue;
      ++this.peaks;
      const [a, b] = [this.actual, this.expected].map((each) => peakOf(each[name].data, map));
      if (a[0] === b[0] && a[1] === b[1]) continue;
      moved.add(map);
      const cells = Array.from(maps.data.subarray(map * side * side, (map + 1) * side * side));
      const fine = bothRight(cells, side, a, b, peak);
      if (!fine) this.problems.push(`${name}: (${a}) instead of (${b}) in map ${map}`);
      else console.log(`  within rounding: ${name} is (${a}) instead of (${b}) in map ${map}`);
    }
    this.flips += moved.size;
    return moved;
  }

  tap({ name, peak, masked }) {
    const maps = this.expected[`${name}.maps`];
    this.values('maps', `${name}.maps`);
    const moved = this.movedPeaks(`${name}.peaks`, maps, peak);
    if (!masked) return;
    this.values('masked', `${name}.masked`, moved);
    for (const map of moved) this.aside.add(Math.floor(map / maps.shape[1]));
  }

  all(taps) {
    for (const name of Object.keys(this.actual)) {
      if (!(name in this.expected)) this.problems.push(`${name}: an output nobody expects`);
    }
    for (const tap of taps) this.tap(tap);
    this.values('logits', 'logits');
    return this;
  }
}

async function compare(folder, session, description, rows) {
  const expected = {};
  for (const [name, shape] of Object.entries(description.tensors)) {
    expected[name] = firstRows(readTensor(folder, name, shape), rows);
  }
  const images = new ort.Tensor('float32', expected.images.data, expected.images.shape);
  return new Comparison(await session.run({ images }), expected).all(description.taps);
}

const root = process.argv[2];
let failed = 0;
console.log('case'.padEnd(42), 'N  logits   maps     masked   peaks   moved');
for (const name of fs.readdirSync(root).sort()) {
  const folder = path.join(root, name);
  const description = JSON.parse(fs.readFileSync(path.join(folder, 'case.json'), 'utf8'));
  const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'));
  for (const rows of [1, 3]) {
    const { worst, problems, peaks, flips } = await compare(folder, session, description, rows);
    const numbers = Object.values(worst).map((value) => value.toExponential(1).padEnd(8));
    console.log(name.padEnd(42), rows, '', ...numbers, `${peaks}`.padEnd(7), flips);
    for (const problem of problems) console.log(`  FAILED  ${problem}`);
    failed += problems.length;
  }
  await session.release();
}
console.log(failed === 0 ? 'onnxruntime and LibTorch agree' : `${failed} disagreements`);
process.exit(failed === 0 ? 0 : 1);
