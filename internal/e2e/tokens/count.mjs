// Counts tokens as OpenAI's models of the encoding o200k do, without a network:
// standard input is a JSON array of strings, standard output one of numbers.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

let input = '';
for await (const chunk of process.stdin) input += chunk;
process.stdout.write(JSON.stringify(JSON.parse(input).map((text) => countTokens(text))));
