// Writes reference_tokenizers.h and reference_ids.h: small tokenizers, trained here on a few lines, and the ids that
// Hugging Face's library gives for texts. Run by hand:
//     npm install @anush008/tokenizers@0.6.0   (the library `tokenizers` 0.22 for Node)
//     node generate.js && .ci/format --fix reference_tokenizers.h reference_ids.h
const { Tokenizer } = require('@anush008/tokenizers');
const fs = require('fs');

const corpus = `the quick brown fox jumps over the lazy dog. Hello world, hello there! It's a token's life; we'll see what they've done.
neural networks read numbers, not words: a tokenizer turns text into ids, and ids into vectors. 1234 567 89 2026
playing played player plays unplayable; walking walked walker; running runner runs; naïve café résumé Zürich
Привет мир 你好世界 こんにちは 😀 emoji	tabs  double   triple spaces
`;
const texts = [
  'Hello world', "Hello, world! It's 2026.", 'the quick  brown   fox', '  leading and trailing  ', "we'll see they've DON'T can't",
  'naïve café Zürich résumé', 'NAÏVE CAFÉ İstanbul ǅ ẞ', '你好世界 hello世界', 'Привет мир', '😀 emoji 👩‍👩‍👧',
  'tabs\tand\nlines\n\n  indented', 'a\u00a0b\u2003c\u0085d', 'unplayable running walker tokenizer networks xyzzy',
  '<|endoftext|>hello<|endoftext|>', 'say [MASK] it [SEP] <mask> here', 'x <mask>y', 'foxes fox  fox.fox', '1234567 89', '',
  '\u0001zero\ufffd\u200bwidth', 'a'.repeat(101) + ' b', 'e\u0301 \ufb01 \u2460 ½', "don't stop...!!  <pad>  20 26",
  '\r\n\r\n x', '  \n  y', 'ﷺ'];

// The bytes of a text as GPT-2 writes them.
const byteOrder = [];
for (let i = 33; i <= 126; i++) byteOrder.push(i);
for (let i = 161; i <= 172; i++) byteOrder.push(i);
for (let i = 174; i <= 255; i++) byteOrder.push(i);
const characterOf = {};
byteOrder.forEach(b => { characterOf[b] = String.fromCodePoint(b); });
for (let b = 0, next = 256; b < 256; b++) if (!(b in characterOf)) characterOf[b] = String.fromCodePoint(next++);
const byteCharacters = Object.values(characterOf).sort();
const asBytes = text => [...Buffer.from(text, 'utf8')].map(b => characterOf[b]);

// The most frequent pair of each round; of several the first in order.
function train(words, rounds) {
  const merges = [];
  for (let round = 0; round < rounds; round++) {
    const count = new Map();
    for (const w of words) for (let i = 0; i + 1 < w.length; i++) count.set(w[i] + ' ' + w[i + 1], (count.get(w[i] + ' ' + w[i + 1]) || 0) + 1);
    let best = null;
    for (const [pair, n] of count) if (n > 1 && (!best || n > count.get(best) || (n === count.get(best) && pair < best))) best = pair;
    if (!best) break;
    merges.push(best);
    const [a, b] = best.split(' ');
    words = words.map(w => {
      const made = [];
      for (let i = 0; i < w.length; i++) made.push(w[i] === a && w[i + 1] === b ? (i++, a + b) : w[i]);
      return made;
    });
  }
  return merges;
}
const numbered = tokens => Object.fromEntries([...new Set(tokens)].map((t, i) => [t, i]));
const withMerges = (tokens, merges) => [...tokens, ...merges.map(m => m.replace(' ', ''))];
const added = (id, content, more = {}) => ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...more });
const special = (id, ids) => ({ id, ids, tokens: [id] });
const template = (before, after, all) => ({ type: 'TemplateProcessing',
  single: [...before.map(id => ({ SpecialToken: { id, type_id: 0 } })), { Sequence: { id: 'A', type_id: 0 } }, ...after.map(id => ({ SpecialToken: { id, type_id: 0 } }))],
  pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }], special_tokens: all });
const file = parts => ({ version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, ...parts });
const byteLevel = (more = {}) => ({ type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true, ...more });
const bpe = (vocab, merges, more = {}) => ({ type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: '', end_of_word_suffix: '', fuse_unk: false, byte_fallback: false, vocab, merges, ...more });

// Models that several of them share.
const gptMerges = train(corpus.match(/'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu).map(asBytes), 60);
const gptVocab = numbered(withMerges(byteCharacters, gptMerges));
const gptEnd = Object.keys(gptVocab).length;

const clipMerges = train(corpus.toLowerCase().match(/'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+/gu).map(w => {
  const made = asBytes(w); made[made.length - 1] += '</w>'; return made; }), 40);
const clipVocab = numbered([...withMerges([...byteCharacters, ...byteCharacters.map(c => c + '</w>')], clipMerges), '<|startoftext|>', '<|endoftext|>']);

const lowBlockWords = corpus.split('\n').map(l => '▁' + l.replace(/ /g, '▁')).join('\n').match(/▁?[^▁\n]+/g).map(w => [...w]);
const lowBlockCharacters = [...new Set(lowBlockWords.slice(0, 40).flat())].sort();
const lowBlockMerges = train(lowBlockWords, 60).filter(m => m.split(' ').join('').split('').every(c => lowBlockCharacters.includes(c)));
const bytes = [...Array(256).keys()].map(b => '<0x' + b.toString(16).toUpperCase().padStart(2, '0') + '>');
const lowBlockVocab = numbered(withMerges(['<unk>', '<s>', '</s>', ...bytes, ...lowBlockCharacters], lowBlockMerges));

const letters = new Set(corpus.toLowerCase().normalize('NFD').replace(/\p{Mn}/gu, '').replace(/\s|😀/gu, ''));
const wordPieces = [...new Set(['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', ...[...letters].sort().flatMap(c => /\p{L}|\p{N}/u.test(c) ? [c, '##' + c] : [c]),
  ...'the hello world play ##ing ##ed ##er ##s un ##able walk run ##ning token ##izer text into ids net ##work neural ##works cafe resume it we see ##23 12'.split(' ')])];
const words = numbered(['<unk>', '<pad>', 'hello', 'world', ',', '!', 'the', 'token', "'", 's', '20', '2', '0', '6', '!!', '26', '...']);
const wordTokens = [added(0, '<unk>'), added(1, '<pad>', { rstrip: true })];

const tokenizers = {
  gpt2: file({ added_tokens: [added(gptEnd, '<|endoftext|>')], pre_tokenizer: byteLevel(), post_processor: byteLevel(), decoder: byteLevel(), model: bpe(gptVocab, gptMerges) }),
  llama3: file({ added_tokens: [added(gptEnd, '<|endoftext|>')], normalizer: { type: 'NFC' },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Split', behavior: 'Isolated', invert: false, pattern: {
      Regex: "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" } },
      byteLevel({ use_regex: false })] },
    post_processor: { type: 'Sequence', processors: [byteLevel(), template(['<|endoftext|>'], [], { '<|endoftext|>': special('<|endoftext|>', [gptEnd]) })] },
    decoder: byteLevel(), model: bpe(gptVocab, gptMerges, { ignore_merges: true }) }),
  roberta: file({ added_tokens: [added(gptEnd, '<s>', { normalized: true }), added(gptEnd + 1, '</s>', { normalized: true }), added(gptEnd + 2, '<mask>', { lstrip: true }),
    added(gptEnd + 3, 'fox', { single_word: true, rstrip: true, normalized: true, special: false })],
    pre_tokenizer: byteLevel({ add_prefix_space: true }), post_processor: { type: 'RobertaProcessing', sep: ['</s>', gptEnd + 1], cls: ['<s>', gptEnd], trim_offsets: true, add_prefix_space: true },
    decoder: byteLevel(), model: bpe(gptVocab, gptMerges) }),
  clip: file({ added_tokens: [added(clipVocab['<|startoftext|>'], '<|startoftext|>', { normalized: true }), added(clipVocab['<|endoftext|>'], '<|endoftext|>')],
    normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' }, { type: 'Lowercase' }] },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Split', pattern: { Regex: "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+" }, behavior: 'Removed', invert: true }, byteLevel()] },
    post_processor: { type: 'RobertaProcessing', sep: ['<|endoftext|>', clipVocab['<|endoftext|>']], cls: ['<|startoftext|>', clipVocab['<|startoftext|>']], trim_offsets: false, add_prefix_space: false },
    decoder: byteLevel(), model: bpe(clipVocab, clipMerges, { unk_token: '<|endoftext|>', end_of_word_suffix: '</w>' }) }),
  llama2: file({ added_tokens: [added(0, '<unk>', { normalized: true }), added(1, '<s>', { normalized: true }), added(2, '</s>', { normalized: true })],
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: '▁' }, { type: 'Replace', pattern: { String: ' ' }, content: '▁' }] },
    post_processor: template(['<s>'], [], { '<s>': special('<s>', [1]) }),
    decoder: { type: 'Sequence', decoders: [{ type: 'Replace', pattern: { String: '▁' }, content: ' ' }, { type: 'ByteFallback' }, { type: 'Fuse' }, { type: 'Strip', content: ' ', start: 1, stop: 0 }] },
    model: bpe(lowBlockVocab, lowBlockMerges, { unk_token: '<unk>', continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: true, byte_fallback: true }) }),
  bert: file({ added_tokens: wordPieces.slice(0, 5).map((t, i) => added(i, t)), normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
    pre_tokenizer: { type: 'BertPreTokenizer' }, post_processor: template(['[CLS]'], ['[SEP]'], { '[CLS]': special('[CLS]', [2]), '[SEP]': special('[SEP]', [3]) }),
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab: numbered(wordPieces) } }),
  words: file({ added_tokens: wordTokens, normalizer: { type: 'Sequence', normalizers: [{ type: 'NFD' }, { type: 'StripAccents' }, { type: 'Lowercase' }, { type: 'Strip', strip_left: true, strip_right: true }] },
    pre_tokenizer: { type: 'Whitespace' }, model: { type: 'WordLevel', vocab: words, unk_token: '<unk>' } }),
  steps: file({ added_tokens: wordTokens, normalizer: { type: 'NFKC' },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, { type: 'Punctuation', behavior: 'Contiguous' }, { type: 'Digits', individual_digits: true }] },
    post_processor: { type: 'BertProcessing', sep: ['<pad>', 1], cls: ['<unk>', 0] }, model: { type: 'WordLevel', vocab: words, unk_token: '<unk>' } }),
  metaspace: file({ pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true }, decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
    model: { type: 'WordLevel', vocab: { '<unk>': 0, '▁Hello': 1, '▁world': 2, '▁': 3, '▁x': 4 }, unk_token: '<unk>' } }),
};

const head = '// Written by generate.js.\n\n#pragma once\n\n';
const literal = text => { // adjacent raw strings, of lines that are not too long
  const all = [...text], lines = [];
  for (let i = 0; i === 0 || i < all.length; i += 90) lines.push('    R"~(' + all.slice(i, i + 90).join('') + ')~"');
  return lines.join('\n');
};
async function main() {
  let made = head + 'namespace sonde::test {\n\n/// tokenizer.json of each; "@bytes@" stands for the vocabulary and merges of kByteTokens.\nstruct ReferenceTokenizer {\n    const char* name;\n    const char* json;\n};\n\n';
  const shared = JSON.stringify(gptVocab).slice(0, -1) + '},"merges":' + JSON.stringify(gptMerges);
  const tokens = shared.replace('}}', '}');
  made += 'constexpr const char* kByteTokens =\n' + literal(tokens) + ';\n\nconstexpr ReferenceTokenizer kReferenceTokenizers[] = {\n';
  for (const [name, json] of Object.entries(tokenizers))
    made += '    {"' + name + '",\n' + literal(JSON.stringify(json).replace(tokens, '@bytes@')) + '},\n';
  made += '};\n\nconstexpr const char* kReferenceVocabulary =\n' + literal(wordPieces.join(' ')) + ';\n\n}  // namespace sonde::test\n';
  fs.writeFileSync(__dirname + '/reference_tokenizers.h', made);

  let ids = head + 'namespace sonde::test {\n\n/// The texts, in JSON: one for each row of a tokenizer.\nconstexpr const char* kReferenceTexts[] = {\n' +
    texts.map(t => literal(JSON.stringify(t).replace(/[\u007f-\u00a0\u200b\u2003]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')))).join(',\n') + '};\n\n' +
    '/// Ids with special tokens around, and what they are decoded to without them, in JSON.\nstruct ReferenceIds {\n    const char* tokenizer;\n    const char* ids;\n    const char* text;\n};\n\nconstexpr ReferenceIds kReferenceIds[] = {\n';
  for (const [name, json] of Object.entries(tokenizers)) {
    const tokenizer = Tokenizer.fromString(JSON.stringify(json));
    for (const text of texts) {
      const found = (await tokenizer.encode(text)).getIds();
      const decoded = JSON.stringify(await tokenizer.decode(found, true)).replace(/[\u007f-\u00a0\u200b\u2003]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
      ids += '    {"' + name + '",\n' + literal(found.join(' ')) + ',\n' + literal(decoded) + '},\n';
    }
  }
  ids += '};\n\n}  // namespace sonde::test\n';
  fs.writeFileSync(__dirname + '/reference_ids.h', ids);
}
main();
