// Opens a built-in model through the installed library, as a user's program would.

#include <cstdio>

#include "core/document/document.h"

int main() {
    const auto model = sonde::document::open("zoo:resnet18");
    if (!model) {
        std::puts(model.error().commandLineText().c_str());
        return model.error().exitStatus();
    }
    const auto& graph = *(*model)->graph;
    std::printf("%s has %zu exprs\n", (*model)->title.c_str(), graph.main().order.size());
    return graph.main().order.empty() ? 1 : 0;
}
