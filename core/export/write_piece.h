#pragma once

#include <filesystem>

#include "core/base/diagnostics.h"
#include "core/export/piece.h"

namespace sonde::exporting {

/// A piece as it was written.
struct WrittenPiece {
    std::filesystem::path model, values;
    std::size_t inputs = 0, outputs = 0, operations = 0;
    double maxAbsolute = 0;   ///< largest difference of an output, run alone, from what it was in the whole model
    base::Diagnostics notes;  ///< what was fixed on the way into ONNX operators
};

/// Where the values of a piece go: PIECE.npz beside PIECE.onnx.
std::filesystem::path pieceValuesPath(const std::filesystem::path& model);

/// Writes a piece as an ONNX file, and its border values under in.NAME and out.NAME beside it: `sonde check PIECE.onnx
/// PIECE.npz` compares them. Before that the piece is run alone. Errors: it has no ONNX form (Usage); alone it gives
/// other values than in the model (Comparison), because it reads memory that operations outside of it write; a file
/// cannot be written (Run). After an error there is no half of a piece: no file was changed, or both are there.
base::Result<WrittenPiece> writePiece(const Piece& piece, const std::filesystem::path& path,
                                      const base::WorkContext& work = {});

}  // namespace sonde::exporting
