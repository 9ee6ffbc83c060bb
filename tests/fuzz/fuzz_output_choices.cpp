// How outputs are shown: the list of a session file, what the command line says, and labels files. What is read is
// written and read again.

#include <cstdlib>

#include "core/session/outputs/choice.h"
#include "core/session/outputs/class_labels.h"

using namespace sonde;
namespace outputs = session::outputs;

namespace {

void writeAgain(const std::vector<outputs::Choice>& choices) {
    io::SessionFile file;
    outputs::storeChoices(file, choices);
    const auto again = outputs::choicesOf(file);
    if (!again) std::abort();
    std::size_t next = 0;
    for (const outputs::Choice& choice : choices) {
        if (choice.isDefault()) continue;
        if (next == again->size() || !((*again)[next++] == choice)) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto choices = outputs::parseChoices(text)) writeAgain(*choices);
    (void)outputs::parseChoice(text);
    if (const auto labels = outputs::parseLabels(text); labels && labels->empty()) std::abort();
    return 0;
}
