// Opens a built-in model through the installed library and runs it, as a user's program would. Each umbrella header is
// included, and so compiled with nothing but what is installed.

#include <cstdio>

#include "core/analysis.h"
#include "core/base.h"
#include "core/document.h"
#include "core/exec.h"
#include "core/export.h"
#include "core/graph.h"
#include "core/io.h"
#include "core/layout.h"
#include "core/nn.h"
#include "core/operators.h"
#include "core/ops.h"
#include "core/passes.h"
#include "core/session.h"
#include "core/tensor.h"
#include "core/trace.h"
#include "core/zoo.h"

namespace {

int failed(const sonde::base::Error& error) {
    std::puts(error.commandLineText().c_str());
    return error.exitStatus();
}

}  // namespace

int main() {
    using namespace sonde;
    const auto model = document::open("zoo:resnet18_slim");
    if (!model) return failed(model.error());
    const auto cases = io::makeInputs("", document::inputInfos(**model));
    if (!cases) return failed(cases.error());
    const auto plan = exec::Plan::make((*model)->graph, {});
    if (!plan) return failed(plan.error());
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**plan, cases->front().values);
    if (recording.error) return failed(*recording.error);
    std::printf("%s: %zu exprs, output %s\n", (*model)->title.c_str(), (*model)->graph->main().order.size(),
                recording.outputs.at(0).typeText().c_str());
    return recording.outputs.at(0).isTensor() ? 0 : 1;
}
