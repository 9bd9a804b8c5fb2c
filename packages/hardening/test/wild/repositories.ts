import type { LitterboxErrorCode } from '@litterbox/core';

/** One kind of repository. */
export interface Wild {
  readonly title: string;
  /** Makes it in an empty directory. */
  readonly script: string;
  /** What is changed in the sandbox. @defaultValue the ordinary change */
  readonly change?: string;
  /** No sandbox can be made of it. */
  readonly createIs?: LitterboxErrorCode;
  /** It can be merged, but a review branch cannot be made. */
  readonly milestoneIs?: LitterboxErrorCode;
  /** A sandbox can be made and worked in; its owner has to finish something before it can be merged. */
  readonly mergeIs?: LitterboxErrorCode;
}

export const ORDINARY_CHANGE = `echo changed >>a.txt; mkdir -p new/dir; echo new >new/dir/new.txt; rm -f gone.txt`;

const INIT = 'git init -q repository; cd repository; echo a >a.txt; echo gone >gone.txt; echo kept >kept.txt';
const COMMIT = 'git add -A; git commit -q -m one';
const PLAIN = `${INIT}; ${COMMIT}`;
/** A repository `from` beside it, to clone. */
const FROM = `git init -q from; (cd from; echo a >a.txt; echo gone >gone.txt; ${COMMIT}; echo b >>a.txt; git commit -q -am two; git config uploadpack.allowFilter true)`;
const FILES = Number(process.env['LITTERBOX_WILD_FILES'] ?? 20_000);
/** About 3,700 bytes: the longest path that leaves room for a workspace above it. */
const DEEP = `p=$(pwd); d=$(printf '%0200d' 0); for i in $(seq 18); do mkdir "$d"; cd "$d"; done; echo deep >deep.txt; cd "$p"`;
const CONFLICT = `${PLAIN}; git checkout -q -b other; echo theirs >a.txt; git commit -q -am theirs; git checkout -q main; echo ours >a.txt; git commit -q -am ours`;

export const WILD: readonly Wild[] = [
  // Size
  {
    title: 'a file of a million lines',
    script: `${INIT}; seq 1000000 >big.txt; ${COMMIT}`,
    change: `${ORDINARY_CHANGE}; sed -i 's/^500000$/half/' big.txt`,
  },
  {
    title: 'many files',
    script: `${INIT}; mkdir many; cd many; seq ${FILES} | split -l 1 -a 4 - f; cd ..; ${COMMIT}`,
    change: `${ORDINARY_CHANGE}; for f in many/*z; do echo x >>"$f"; done; rm many/*y`,
  },
  {
    title: 'directories as deep as paths go',
    script: `${INIT}; ${DEEP}; ${COMMIT}`,
    change: `${ORDINARY_CHANGE}; f=$(find . -name deep.txt); echo deeper >>"$f"; echo twin >"$(dirname "$f")/twin.txt"`,
  },
  {
    title: 'a commit of the empty tree',
    script: 'git init -q repository; cd repository; git commit -q --allow-empty -m nothing',
  },
  { title: 'all files deleted', script: PLAIN, change: 'rm -r ./*' },
  // Names
  {
    title: 'names that shells, git and people misread',
    script: `${INIT}; for n in 'new
line' '-dash' '--help' 'trailing ' ' leading' 'back\\slash' 'quo"te' "apos'trophe" 'tab	' '*' '?' '[a]' ':(top)x' '!x' '#x' '~' '$(x)' 'con' 'aux.c' 'HEAD' 'main' 'x.lock' '@{-1}' '.gitfoo' '..x' '...' 'a:b'; do echo x >./"$n"; done; ${COMMIT}`,
    change:
      'for f in ./* ./.gitfoo ./..x ./...; do [ ! -f "$f" ] || echo x >>"$f"; done; mv -- "./-dash" "./-new dash"',
  },
  {
    title: 'names that are no UTF-8',
    script: `${INIT}; echo x >"$(printf 'latin\\344')"; echo x >"$(printf '\\377\\376')"; mkdir "$(printf 'd\\200')"; echo x >"$(printf 'd\\200/x')"; ${COMMIT}`,
    change: `for f in latin* "$(printf '\\377\\376')" d*/x; do echo y >>"$f"; done; echo n >"$(printf 'new\\303')"`,
  },
  {
    title: 'two forms of one letter',
    script: `${INIT}; echo nfc >"$(printf 'caf\\303\\251')"; echo nfd >"$(printf 'cafe\\314\\201')"; ${COMMIT}`,
    change: `echo c >>"$(printf 'caf\\303\\251')"; rm "$(printf 'cafe\\314\\201')"`,
  },
  {
    title: 'names that differ in case alone',
    script: `${INIT}; echo 1 >File; echo 2 >file; mkdir Dir dir; echo 3 >Dir/x; echo 4 >dir/x; ${COMMIT}`,
    change: 'echo c >>File; rm dir/x',
  },
  {
    title: 'names of 255 bytes',
    script: `${INIT}; echo x >"$(printf '%0255d' 0)"; ${COMMIT}`,
    change: `echo y >>"$(printf '%0255d' 0)"; echo z >"$(printf '%0255d' 1)"`,
  },
  // Types
  {
    title: 'a farm of links',
    script: `${INIT}; mkdir d; echo x >d/x; ln -s nowhere dangling; ln -s /etc/passwd absolute; ln -s loop loop; ln -s two one; ln -s one two; ln -s d to-directory; ln -s ../.. up; ln -s "$(printf 'odd\\n\\377')" odd; ${COMMIT}`,
    change:
      'ln -sfn kept.txt dangling; rm one; echo file >one; rm kept.txt; ln -s a.txt kept.txt; rm to-directory; mkdir to-directory; echo y >to-directory/y; echo z >>d/x',
  },
  {
    title: 'executable bits and empty files',
    script: `${INIT}; : >empty; echo '#!/bin/sh' >run; chmod +x run; echo x >plain; ${COMMIT}`,
    change: 'chmod -x run; chmod +x plain empty; : >a.txt; echo full >>empty; : >another',
  },
  {
    title: 'a file becomes a directory, a directory a file',
    script: `${INIT}; mkdir d; echo x >d/x; ${COMMIT}`,
    change: 'rm a.txt; mkdir a.txt; echo x >a.txt/x; rm -r d; echo d >d',
  },
  {
    title: 'binary files with every byte',
    script: `${INIT}; for i in $(seq 0 255); do printf "\\\\$(printf %03o "$i")"; done >bytes; ${COMMIT}`,
    change: 'cat bytes bytes >more; printf "\\000" >>bytes',
  },
  // Submodules, repositories in repositories
  {
    title: 'a submodule that is there',
    script: `${FROM}; ${PLAIN}; git submodule --quiet add ../from sub; git commit -q -m sub`,
    change: ORDINARY_CHANGE,
  },
  {
    title: 'a submodule that is not initialised',
    script: `${FROM}; git init -q super; (cd super; echo a >a.txt; echo gone >gone.txt; git submodule --quiet add ../from sub; ${COMMIT}); git clone -q super repository`,
  },
  {
    title: 'a submodule with changes of its own',
    script: `${FROM}; ${PLAIN}; git submodule --quiet add ../from sub; git commit -q -m sub; echo dirty >>sub/a.txt; echo new >sub/new`,
  },
  { title: 'a repository inside, untracked', script: `${PLAIN}; git init -q inner; (cd inner; echo x >x; ${COMMIT})` },
  {
    title: 'a repository inside an ignored directory, worked in itself',
    script: `${PLAIN}; echo ignored >.gitignore; ${COMMIT} -q; mkdir ignored; cd ignored; git init -q inner; cd inner; echo a >a.txt; echo gone >gone.txt; ${COMMIT}; echo repository/ignored/inner >../../../where`,
  },
  {
    title: 'a repository made in the sandbox',
    script: PLAIN,
    change: `${ORDINARY_CHANGE}; mkdir inner; echo x >inner/x`,
  },
  // What converts
  {
    title: 'pointers of LFS without LFS',
    script: `${INIT}; echo '*.bin filter=lfs diff=lfs merge=lfs -text' >.gitattributes; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%064d\\nsize 5\\n' 0 >x.bin; ${COMMIT}`,
    change: `${ORDINARY_CHANGE}; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%064d\\nsize 6\\n' 1 >x.bin`,
  },
  {
    title: 'attributes with line ends, ident and an encoding',
    script: `${INIT}; printf '*.crlf text eol=crlf\\n*.lf text eol=lf\\n*.id ident\\n*.u16 text working-tree-encoding=UTF-16LE\\n*.bin binary\\n*.exp export-ignore\\n' >.gitattributes; printf 'a\\r\\nb\\r\\n' >x.crlf; printf 'a\\nb\\n' >x.lf; echo '$Id$' >x.id; printf 'a\\000b\\000\\n\\000' >x.u16; printf 'a\\r\\n\\000' >x.bin; echo e >x.exp; ${COMMIT}`,
    change: `${ORDINARY_CHANGE}; for f in x.crlf x.lf x.id x.u16 x.exp; do echo c >>$f; done; printf '\\000' >>x.bin`,
  },
  {
    title: 'a filter of the owner',
    script: `${INIT}; git config filter.rot.clean 'tr a-z n-za-m'; git config filter.rot.smudge 'tr a-z n-za-m'; echo '*.rot filter=rot' >.gitattributes; echo secret >x.rot; ${COMMIT}`,
    change: `${ORDINARY_CHANGE}; echo zber >>x.rot`,
  },
  {
    title: 'line ends of Windows with autocrlf',
    script: `git init -q repository; cd repository; git config core.autocrlf true; printf 'a\\r\\n' >a.txt; printf 'gone\\r\\n' >gone.txt; ${COMMIT} 2>/dev/null`,
  },
  {
    title: 'line ends of Windows as they are',
    script: `${INIT}; printf 'a\\r\\nb\\r\\n' >crlf.txt; printf 'a\\r\\nb\\n' >mixed.txt; ${COMMIT}`,
    change: `${ORDINARY_CHANGE}; printf 'c\\r\\n' >>crlf.txt; printf 'c\\r' >>mixed.txt`,
  },
  // What is not all there
  {
    title: 'a sparse checkout',
    script: `${INIT}; mkdir in out; echo i >in/x; echo o >out/x; ${COMMIT}; git sparse-checkout set in`,
    change: `${ORDINARY_CHANGE}; echo c >>in/x; echo c >>out/x`,
  },
  {
    title: 'a sparse checkout with a sparse index',
    script: `${INIT}; mkdir in out; echo i >in/x; echo o >out/x; ${COMMIT}; git sparse-checkout init --cone --sparse-index; git sparse-checkout set in`,
    change: `${ORDINARY_CHANGE}; echo c >>in/x; echo c >>out/x`,
  },
  {
    title: 'a partial clone that has what HEAD needs',
    script: `${FROM}; git clone -q --filter=blob:none "file://$PWD/from" repository`,
  },
  {
    title: 'a partial clone that lacks files',
    script: `${FROM}; git clone -q --filter=blob:none --no-checkout "file://$PWD/from" repository; mv from away`,
    createIs: 'OBJECT_MISSING',
  },
  { title: 'a shallow clone', script: `${FROM}; git clone -q --depth 1 "file://$PWD/from" repository` },
  { title: 'objects borrowed from another repository', script: `${FROM}; git clone -q --shared from repository` },
  {
    title: 'objects borrowed from a repository that is gone',
    script: `${FROM}; git clone -q --shared from repository; mv from away`,
    createIs: 'OBJECT_MISSING',
  },
  {
    title: 'packed refs, packed objects, a commit graph and an index of packs',
    script: `${PLAIN}; git pack-refs --all; git gc -q; git commit-graph write --reachable 2>/dev/null; git multi-pack-index write 2>/dev/null`,
  },
  // Where it is
  {
    title: 'a linked work tree',
    script: `git init -q first; (cd first; echo a >a.txt; echo gone >gone.txt; ${COMMIT}; git worktree add -q ../repository -b side)`,
  },
  {
    title: 'a git directory elsewhere',
    script: `git init -q --separate-git-dir=elsewhere.git repository; cd repository; echo a >a.txt; echo gone >gone.txt; ${COMMIT}`,
  },
  { title: 'a git directory behind a link', script: `${PLAIN}; mv .git ../real.git; ln -s ../real.git .git` },
  {
    title: 'a work tree that the configuration names',
    script: `git init -q --bare store.git; mkdir repository; cd repository; echo 'gitdir: ../store.git' >.git; git config core.bare false; git config core.worktree ../repository; echo a >a.txt; echo gone >gone.txt; ${COMMIT}`,
  },
  {
    title: 'a directory with an odd name',
    script: `git init -q "odd \\"na'me
\\$(x) é"; cd odd*; echo a >a.txt; echo gone >gone.txt; ${COMMIT}; basename "$PWD" >../where; cd ..; mv odd* "repo \\"na'me \\$(x) é"; echo "repo \\"na'me \\$(x) é" >where`,
  },
  { title: 'a bare repository', script: 'git init -q --bare repository', createIs: 'BARE_REPO' },
  { title: 'a repository that says it is bare', script: `${PLAIN}; git config core.bare true`, createIs: 'BARE_REPO' },
  // Formats
  {
    title: 'SHA-256',
    script: `git init -q --object-format=sha256 repository; cd repository; echo a >a.txt; echo gone >gone.txt; ${COMMIT}`,
  },
  {
    title: 'settings of other systems',
    script: `${INIT}; git config core.fileMode false; git config core.symlinks false; git config core.ignoreCase true; git config core.precomposeUnicode true; ${COMMIT}`,
  },
  {
    title: 'settings that change what merge does',
    script: `${PLAIN}; git config merge.ff only; git config commit.gpgSign true; printf '#!/bin/sh\\ncat >/dev/null\\necho >&2 "\\n[GNUPG:] SIG_CREATED "\\necho signed\\n' >"$HOME/sign"; chmod +x "$HOME/sign"; git config gpg.program "$HOME/sign"; git config merge.autoStash true; git config pull.rebase true; git config core.hooksPath hooks; git config user.useConfigOnly true; mkdir -p .git/hooks; printf '#!/bin/sh\\nexit 1\\n' >.git/hooks/pre-merge-commit; chmod +x .git/hooks/pre-merge-commit; cp .git/hooks/pre-merge-commit .git/hooks/commit-msg`,
  },
  {
    title: 'a split index, an untracked cache and fsmonitor',
    script: `${PLAIN}; git config core.untrackedCache true; git update-index --split-index; git config core.fsmonitor false`,
  },
  { title: 'an index of version 4', script: `${INIT}; git config index.version 4; ${COMMIT}` },
  // HEAD and history
  { title: 'a branch without commits', script: INIT, createIs: 'UNBORN_HEAD' },
  { title: 'a detached HEAD', script: `${PLAIN}; git checkout -q --detach` },
  {
    title: 'a branch, a tag and a file of one name',
    script: `${INIT}; echo x >main; ${COMMIT}; git tag main; git branch twice HEAD; git tag twice HEAD`,
  },
  { title: 'a branch whose name is in the way', script: `${PLAIN}; git branch litterbox`, milestoneIs: 'CONFLICT' },
  {
    title: 'history with merges of many parents',
    script: `${PLAIN}; for b in x y z; do git checkout -q -b $b main; echo $b >$b; git add $b; git commit -q -m $b; done; git checkout -q main; git merge -q -m octopus x y z >/dev/null`,
  },
  {
    title: 'replaced and grafted commits',
    script: `${PLAIN}; echo b >>a.txt; git commit -q -am two; echo c >>a.txt; git commit -q -am three; git replace --graft HEAD; git replace HEAD~0 "$(git commit-tree -m other HEAD^{tree})" 2>/dev/null || true`,
  },
  { title: 'a commit message of a megabyte', script: `${INIT}; git add -A; seq 150000 | git commit -q -F -` },
  {
    title: 'people whose names are no UTF-8',
    script: `${INIT}; git add -A; GIT_AUTHOR_NAME="$(printf 'J\\366rg\\377')" git -c i18n.commitEncoding=ISO-8859-1 commit -q -m "$(printf 'gr\\374n')"`,
  },
  {
    title: 'commits that were signed, and times before 1970 and after 2100',
    script: `${INIT}; git add -A; GIT_AUTHOR_DATE='@0 +0000' GIT_COMMITTER_DATE='@4200000000 +1400' git commit -q -m future`,
  },
  // Work in progress
  {
    title: 'uncommitted edits beside the change',
    script: `${PLAIN}; echo mine >>kept.txt; echo staged >staged.txt; git add staged.txt; echo untracked >untracked.txt`,
  },
  { title: 'files that are only to be added', script: `${PLAIN}; echo later >later.txt; git add -N later.txt` },
  {
    title: 'files that git is told not to look at',
    script: `${INIT}; echo s >skipped; ${COMMIT}; git update-index --assume-unchanged kept.txt; git update-index --skip-worktree skipped; echo local >>kept.txt; echo local >>skipped`,
  },
  {
    title: 'a merge that is not finished',
    script: `${CONFLICT}; git merge -q other >/dev/null || true`,
    mergeIs: 'MERGE_IN_PROGRESS',
  },
  {
    title: 'a cherry-pick that is not finished',
    script: `${CONFLICT}; git cherry-pick other >/dev/null 2>&1 || true`,
    mergeIs: 'MERGE_IN_PROGRESS',
  },
  {
    title: 'a revert that is not finished',
    script: `${CONFLICT}; git revert --no-commit HEAD`,
    mergeIs: 'MERGE_IN_PROGRESS',
  },
  {
    title: 'a rebase that is not finished',
    script: `${CONFLICT}; git rebase -q other >/dev/null 2>&1 || true`,
    mergeIs: 'MERGE_IN_PROGRESS',
  },
  {
    title: 'patches that are not all applied',
    script: `${CONFLICT}; git format-patch -q -1 other; git am -q 0001-*.patch >/dev/null 2>&1 || true`,
    mergeIs: 'MERGE_IN_PROGRESS',
  },
  { title: 'a bisection', script: `${CONFLICT}; git bisect start -q HEAD HEAD~1 >/dev/null 2>&1` },
  { title: 'a stash', script: `${PLAIN}; echo mine >>kept.txt; git stash -q` },
];
