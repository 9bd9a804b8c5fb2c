// Lets a bundle in CommonJS load some of Node's own modules when they are first used. Each takes milliseconds of a start that most
// commands do not need: hashes are computed by what records, sockets opened by what forwards a port.
const LATE = ['child_process', 'crypto', 'dns/promises', 'fs/promises', 'http', 'net', 'readline', 'zlib'];

/** A plugin of rolldown. Where a module is used in a way that it does not know, the module is loaded at once as before. */
export const lateBuiltins = {
  name: 'late-builtins',
  renderChunk(code) {
    let text = code;
    for (const name of LATE) {
      const local = `node_${name.replaceAll('/', '_')}`;
      const declaration = `let ${local} = require("node:${name}");`;
      const [before, after, more] = text.split(declaration);
      if (after === undefined || more !== undefined) continue;
      const uses = new RegExp(`(?<![\\w$.])${local}(?![\\w$])`, 'g');
      const members = new RegExp(`${uses.source}(?=\\.[A-Za-z_$])`, 'g');
      // A member of a member may stand wherever a member may, behind `new` too; a call may not.
      const isUnderstood = !uses.test(before) && !uses.test(after.replace(members, ''));
      if (!isUnderstood) continue;
      const late = `const ${local} = { get late() { return require("node:${name}"); } };`;
      text = `${before}${late}${after.replace(members, `${local}.late`)}`;
    }
    return text === code ? null : { code: text, map: null };
  },
};
