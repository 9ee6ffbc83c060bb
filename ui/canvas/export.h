#pragma once

#include <QImage>
#include <QString>

#include "core/base/result.h"
#include "ui/canvas/paging.h"

namespace sonde::canvas {

/// Writes a scene to a file whose name's ending gives the format: svg (text as text, boxes as titled groups), png
/// (`scale` pixels per unit), pdf (vector, one page), dot, json. The same scene, style and marks give the same bytes.
/// Fails with Usage for an unknown ending, a file that cannot be written, or a PNG of more than 16,384 × 16,384 pixels.
base::Result<void> exportScene(const ScenePainter& painter, const SceneMarks& marks, const QString& path, double scale);

/// The same as bytes; `format` is "svg", "png", "pdf", "dot" or "json".
base::Result<QByteArray> sceneBytes(const ScenePainter& painter, const SceneMarks& marks, const QString& format, double scale);

/// A PDF file on pages of a common size. The same bytes for the same scene, as above.
QByteArray pagedPdf(const ScenePainter& painter, const SceneMarks& marks, const Paging& paging);
base::Result<void> exportPages(const ScenePainter& painter, const SceneMarks& marks, const QString& path, const Paging& paging);

/// A part of a scene as a picture, `scale` pixels per unit (less if it would be larger than 16,384 pixels).
QImage sceneImage(const ScenePainter& painter, const SceneMarks& marks, const QRectF& area, double scale);

}  // namespace sonde::canvas
