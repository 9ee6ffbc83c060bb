#pragma once

#include <QImage>
#include <QString>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "ui/canvas/paging.h"

namespace sonde::canvas {

/// Writes a scene to a file whose name's ending gives the format: svg (text as text, boxes as titled groups), png
/// (`scale` pixels per unit), pdf (vector, one page), dot, json. The same scene, style and marks give the same bytes.
/// Fails with Usage for an unknown ending, a file that cannot be written, or a PNG of more than 16,384 × 16,384 pixels,
/// and with Cancelled. The file is there as a whole or as it was before. On any thread; the painter is used by no other
/// meanwhile.
base::Result<void> exportScene(const ScenePainter& painter, const SceneMarks& marks, const QString& path, double scale,
                               const base::WorkContext& work = {});

/// The same as bytes; `format` is "svg", "png", "pdf", "dot" or "json".
base::Result<QByteArray> sceneBytes(const ScenePainter& painter, const SceneMarks& marks, const QString& format,
                                    double scale, const base::WorkContext& work = {});

/// An area of a scene as a PDF file on pages of a common size. The same bytes for the same scene, as above.
base::Result<void> exportPages(const ScenePainter& painter, const SceneMarks& marks, const QRectF& area,
                               const QString& path, const Paging& paging, const base::WorkContext& work = {});

/// No side of an image is longer, in pixels: of a large area the scale is at most this.
inline constexpr int kMaxImageSide = 16384;
double largestScale(const QRectF& area);
/// A part of a scene as a picture, `scale` pixels per unit (less if that is more than its largest scale).
QImage sceneImage(const ScenePainter& painter, const SceneMarks& marks, const QRectF& area, double scale);

}  // namespace sonde::canvas
