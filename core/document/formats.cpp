#include "core/document/formats.h"

#include "core/document/format_dump.h"
#include "core/document/format_onnx.h"
#include "core/document/format_plugin.h"
#include "core/document/format_session.h"
#include "core/document/format_torchscript.h"
#include "core/document/format_traced_module.h"
#include "core/document/format_zoo.h"

namespace sonde::document {

const std::vector<Format>& formats() {
    // Asked in this order.
    static const std::vector<Format> table{
        onnxFormat(),   torchScriptFormat(), tracedModuleFormat(), dumpFormat(),
        pluginFormat(), sessionFormat(),     zooFormat(),
    };
    return table;
}

}  // namespace sonde::document
