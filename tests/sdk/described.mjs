// Generates types from /openapi.json, checks described.ts by them as strictly as TypeScript can, and runs it. Checks widget.ts by the
// types of the chat's package.
//
//     DOCENT_KEY=docent_assistant_… DOCENT_ADMIN_KEY=docent_admin_… node described.mjs BASE_URL DOMAIN FOLDER
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [base, domain, folder] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));

function run(program, ...args) {
  const { status } = spawnSync(process.execPath, [program, ...args], { cwd: folder, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

const tool = path => join(here, 'node_modules', path);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'));
writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
copyFileSync(join(here, 'described.ts'), join(folder, 'described.ts'));
run(tool('openapi-typescript/bin/cli.js'), `${base}/openapi.json`, '--output', 'api.d.ts');
run(tool('typescript/bin/tsc'), '--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--skipLibCheck',
  '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', 'described.ts');
cpSync(join(here, '../../crates/widget/files'), join(folder, 'docent-widget'), { recursive: true });
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { strict: true, noEmit: true, target: 'es2022', module: 'nodenext', lib: ['es2022', 'dom'], types: [], paths: { 'docent-widget': ['./docent-widget/widget.d.ts'] } }, files: ['widget.ts'] }));
copyFileSync(join(here, 'widget.ts'), join(folder, 'widget.ts'));
run(tool('typescript/bin/tsc'), '--project', 'tsconfig.json');
run('described.js', base, domain);
