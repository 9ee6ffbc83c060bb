#pragma once

// Files: arrays, images, inputs, ONNX, dumps and traced modules. Models are opened by core/document.h.

#include "core/io/dump/dump_file.h"
#include "core/io/image/image.h"
#include "core/io/inputs/agreement.h"
#include "core/io/inputs/inputs.h"
#include "core/io/inputs/npz_inputs.h"
#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"
#include "core/io/onnx/onnx_reader.h"
#include "core/io/onnx/onnx_writer.h"
#include "core/io/onnx/value_file.h"
#include "core/io/traced_module/traced_module_file.h"
