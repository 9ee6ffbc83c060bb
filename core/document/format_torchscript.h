#pragma once

#include "core/document/format.h"

namespace sonde::document {

/// TorchScript archives, traced or scripted. Files of torch.save are recognised, too, and refused with what to do.
Format torchScriptFormat();

}  // namespace sonde::document
