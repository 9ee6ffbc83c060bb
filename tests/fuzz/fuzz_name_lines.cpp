// Lists of names, a name a line, as a vocabulary: its tokens are joined in every way, and found again.

#include <cstdlib>

#include "core/io/inputs/vocabulary.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto vocabulary = io::Vocabulary::parse({reinterpret_cast<const char*>(data), size});
    if (!vocabulary) return 0;
    std::vector<std::int64_t> ids;
    for (std::size_t i = 0; i < vocabulary->size(); ++i) {
        const auto id = static_cast<std::int64_t>(i);
        const std::string* const token = vocabulary->token(id);
        if (!token || vocabulary->id(*token).value_or(id + 1) > id) std::abort();
        ids.push_back(id);
    }
    ids.push_back(-1);
    if (vocabulary->text(ids).empty()) std::abort();  // at least the id that no token has
    return 0;
}
