#include "ui/actions/action_table.h"

namespace sonde::actions {

/// What compares the model with another run of its own accord, and what gives inputs.
std::vector<ActionInfo> otherRunActions() {
    return {
        {"inputs.draw", "&Draw Input…", "Run/Inputs-", "Draw the value of an input that takes an image", "edit",
         "Alt+D", Scope::Window, Need::Model},
        {"inputs.next_file", "&Next File", "Run/Inputs-", "Give the input the next file of its folder", "next",
         "Ctrl+Shift+PgDown", Scope::Window, Need::Model},
        {"inputs.previous_file", "&Previous File", "Run/Inputs", "Give the input the previous file of its folder",
         "previous", "Ctrl+Shift+PgUp", Scope::Window, Need::Model},
        {"run.bisect", "Bisect Di&fferences…", "Run-",
         "Find the smallest part in which another model, a lower precision, ONNX Runtime or a reference file gives other values",
         "bisect", "Ctrl+Shift+A", Scope::Window, Need::Model | Need::Idle},
        {"run.precision", "Precision b&y Node…", "Run",
         "Measure what float16, bfloat16, int8 or a quantised model costs each value, and where the error begins",
         "precision", "Alt+Shift+Q", Scope::Window, Need::Model | Need::Idle},
        {"compare.engine", "Compare with &ONNX Runtime…", "Run/Compare-",
         "Compare every value and the time of each operation with ONNX Runtime", "compare", "Ctrl+Alt+Shift+L",
         Scope::Window, Need::Model | Need::Idle},
    };
}

}  // namespace sonde::actions
