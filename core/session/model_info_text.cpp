#include <algorithm>
#include <fmt/format.h>

#include "core/base/visible_text.h"
#include "core/session/model_info.h"

namespace sonde::session {

namespace {

using tensor::SymbolicSum;

void addModules(std::string& text, const document::Document& document, const ModelInfo& info, int depth) {
    const auto& modules = document.modules->modules();
    std::size_t width = 6;
    std::vector<std::size_t> listed;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        if (i > 0 && std::ranges::count(modules[i].qualname, '.') >= depth) continue;
        listed.push_back(i);
        width = std::max(width, modules[i].qualname.size());
    }
    text += fmt::format("{:{}}  {:>12}  {:>14}  {:>14}  {:>12}  {:>12}\n", "module", width, "parameters",
                        "multiply-adds", "FLOPs", "bytes", "activations");
    for (const std::size_t i : listed) {
        const analysis::CostSum& cost = info.cost.ofModule[i];
        SymbolicSum bytes = cost.bytesRead;
        bytes.add(cost.bytesWritten);
        const auto told = [](bool isKnown, const SymbolicSum& sum) { return isKnown ? sum.text() : std::string("?"); };
        text += fmt::format("{:{}}  {:>12}  {:>14}  {:>14}  {:>12}  {:>12}\n",
                            i == 0 ? "(all)" : base::visibleText(modules[i].qualname), width,
                            info.counts.ofModule[i].parameters.elements,
                            told(cost.hasMultiplyAdds(), cost.multiplyAdds), told(cost.hasFlops(), cost.flops),
                            told(cost.hasBytes(), bytes), told(cost.hasActivations(), cost.activationBytes));
    }
}

}  // namespace

std::string modelInfoText(const document::Document& document, const ModelInfo& info, int depth) {
    std::string text, last;
    for (const InfoLine& line : modelInfoLines(document, info)) {
        const std::string shown = base::visibleText(line.text);
        if (line.title.empty()) text += shown + "\n";
        else if (line.isCount) text += fmt::format("{:>12} {}\n", line.title, shown);
        else text += fmt::format("{:12} {}\n", line.title == last ? "" : line.title, shown);
        last = line.title;
    }
    if (depth > 0) addModules(text, document, info, depth);
    return text;
}

}  // namespace sonde::session
