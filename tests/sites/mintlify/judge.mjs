// node judge.mjs FOLDER OUT: runs Mintlify's own link checker on a folder of docs; writes JSON for the example
// compare_mint.
import fs from 'node:fs';
import { buildGraph } from '@mintlify/link-rot';

const [folder, out] = process.argv.slice(2);
const offline = async () => { throw new Error('descriptions elsewhere are not fetched'); };
const graph = await buildGraph(folder, { fetchRemoteDocument: offline });
graph.precomputeFileResolutions();
const broken = graph.getBrokenInternalLinks({}).map((link) => ({
  file: link.relativeDir === '.' ? link.filename : `${link.relativeDir}/${link.filename}`,
  target: link.originalPath,
}));
const anchors = {};
for (const node of Object.values(graph.nodes)) {
  if (node.headingSlugs !== null) anchors[node.label] = [...node.headingSlugs];
}
fs.writeFileSync(out, JSON.stringify({ broken, anchors }));
