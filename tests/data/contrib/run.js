// node run.js JOBS.json RESULTS.jsonl FIRST: runs the models of the jobs from number FIRST on with ONNX Runtime and adds
// what each gives as a line.
// Called by generate.py; onnxruntime-node is looked for in $ORT_NODE (a folder with node_modules).
const fs = require('fs'), path = require('path');
const ort = require(path.join(process.env.ORT_NODE || '.', 'node_modules', 'onnxruntime-node'));

const arrays = {
  f32: ['float32', Float32Array, Number], f64: ['float64', Float64Array, Number], f16: ['float16', Uint16Array, Number],
  i8: ['int8', Int8Array, Number], u8: ['uint8', Uint8Array, Number], i16: ['int16', Int16Array, Number],
  u16: ['uint16', Uint16Array, Number], i32: ['int32', Int32Array, Number], u32: ['uint32', Uint32Array, Number],
  i64: ['int64', BigInt64Array, BigInt], u64: ['uint64', BigUint64Array, BigInt], bool: ['bool', Uint8Array, Number],
};
const names = Object.fromEntries(Object.entries(arrays).map(([key, value]) => [value[0], key]));

async function run(job) {
  const session = await ort.InferenceSession.create(job.model, { graphOptimizationLevel: 'disabled', logSeverityLevel: 4 });
  const feeds = {};
  for (const [name, tensor] of Object.entries(job.inputs)) {
    const [type, array, convert] = arrays[tensor.t];
    feeds[name] = new ort.Tensor(type, array.from(tensor.v, convert), tensor.s);
  }
  const results = await session.run(feeds);
  await session.release();
  return job.outputs.map(name => {
    const t = results[name];
    const bits = t.type === 'float16' ? Array.from(new Uint16Array(t.data.buffer, t.data.byteOffset, t.data.length)) : Array.from(t.data);
    return { t: names[t.type], s: t.dims, v: bits.map(x => typeof x === 'bigint' ? Number(x) : x === -Infinity ? '-inf' : x === Infinity ? 'inf' : Number.isNaN(x) ? 'nan' : x) };
  });
}

(async () => {
  const jobs = JSON.parse(fs.readFileSync(process.argv[2]));
  for (const job of jobs.slice(Number(process.argv[4]))) {
    let result;
    try {
      result = { out: await run(job) };
    } catch (error) {
      result = { error: String(error.message || error) };
    }
    fs.appendFileSync(process.argv[3], JSON.stringify(result) + '\n');
  }
})();
