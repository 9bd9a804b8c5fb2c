/* oxlint-disable import/default, import/no-named-as-default-member -- CommonJS whose names Node does not see; bundle.mjs gives it the same form */
import jsonc from 'jsonc-parser';

export const { getNodeValue, parseTree, printParseErrorCode } = jsonc;
