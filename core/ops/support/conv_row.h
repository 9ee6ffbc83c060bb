#pragma once

#include "core/ops/support/row.h"

namespace sonde::ops {

/// The row with the attributes of ONNX's Conv and of what is defined after it (onnx.ai, operators, Conv).
inline Row withConvAttributes(Row row) {
    row.attrString("auto_pad", "NOTSET")
        .attrInts("dilations")
        .attrInt("group", 1)
        .attrInts("kernel_shape")
        .attrInts("pads")
        .attrInts("strides");
    return row;
}

}  // namespace sonde::ops
