// Files of tokenizers, and texts for them: a file up to a zero byte, then the text; without one the file has to do with
// a few words.

#include <algorithm>
#include <span>
#include <string_view>

#include "core/io/inputs/text_item.h"
#include "core/io/inputs/tokenizers/tokenizer_file.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(all.find('\0'), size);
    const std::string_view text = end < size ? all.substr(end + 1) : "Hello, world!\n\xc3\xa4 12 [MASK]";
    (void)io::parseTextItem(all);
    const auto part = io::parseTokenizerPart(text);
    const auto tokenizer = io::parseTokenizer(all.substr(0, end), "file", part ? part->choice : io::TokenizerChoice());
    if (!tokenizer) return 0;
    const auto encoding = (*tokenizer)->encode(text);
    if (!encoding) return 0;
    (void)(*tokenizer)->decode(encoding->ids);
    for (const std::int64_t id : std::span(encoding->ids).first(std::min<std::size_t>(encoding->ids.size(), 8)))
        (void)(*tokenizer)->tokenText(id);
    return 0;
}
