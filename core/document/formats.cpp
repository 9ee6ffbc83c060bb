#include "core/document/document.h"
#include "core/document/format_onnx.h"

namespace sonde::document {

const std::vector<Format>& formats() {
    // Asked in this order.
    static const std::vector<Format> table{
        onnxFormat(),
    };
    return table;
}

}  // namespace sonde::document
