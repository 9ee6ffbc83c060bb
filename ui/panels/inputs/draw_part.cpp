#include "ui/panels/inputs/draw_part.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "core/document/input_infos.h"
#include "core/io/image/image_size.h"
#include "core/io/inputs/drawing.h"
#include "core/io/inputs/noise.h"
#include "ui/context/input_spec.h"
#include "ui/context/open_model.h"
#include "ui/context/text.h"
#include "ui/panels/inputs/drawing_window.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

namespace {

constexpr int kPictureSide = 48;

io::InputInfo infoOf(const context::OpenModel& opened, const QString& name) {
    if (const auto document = opened.document())
        for (const io::InputInfo& info : document::inputInfos(*document))
            if (info.name == name.toStdString()) return info;
    return {name.toStdString(), {}};
}

}  // namespace

DrawPart::DrawPart(context::OpenModel& opened, const QString& inputName, QWidget* parent)
    : InputPart(parent), m_opened(opened), m_name(inputName), m_picture(new QLabel),
      m_open(new QPushButton(theme::icon(QStringLiteral("edit")), tr("Draw…"))) {
    m_picture->setFixedSize(kPictureSide, kPictureSide);
    m_picture->setAccessibleName(tr("Drawing for input %1").arg(inputName));
    m_open->setObjectName(QStringLiteral("openPad"));
    m_open->setToolTip(tr("Show the window to draw this input in"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(theme::kSmall);
    row->addWidget(m_picture);
    row->addWidget(m_open);
    row->addStretch(1);
    connect(m_open, &QPushButton::clicked, this, &DrawPart::openPad);
}

bool DrawPart::fits(const context::ModelInput& input) {
    const tensor::TypeInfo& type = input.type;
    if (!type.isTensor() || !type.shape || type.dtype == tensor::DType::String) return false;
    return io::imageSize(type).has_value();
}

void DrawPart::refresh(const context::ModelInput& input) {
    const bool isDrawing = io::isDrawingItem(input.spec.source.toStdString());
    setVisible(isDrawing);
    if (!isDrawing) {
        if (m_window) m_window->close();
        m_source.clear();
        return;
    }
    if (m_source == input.spec.source) return;
    m_source = input.spec.source;
    if (m_source == m_lastGiven) m_given = {m_lastGiven};
    showPicture();
}

void DrawPart::showPicture() {
    const auto drawing = io::parseDrawing(io::withoutNoise(m_source.toStdString()));
    if (!drawing) return m_picture->clear();
    if (m_window && !m_given.contains(m_source)) m_window->setDrawing(*drawing);
    if (const auto pixels = io::drawnImage(*drawing, infoOf(m_opened, m_name)))
        m_picture->setPixmap(QPixmap::fromImage(
            imageOf(*pixels).scaled(kPictureSide, kPictureSide, Qt::KeepAspectRatio, Qt::FastTransformation)));
}

void DrawPart::openPad() {
    if (!m_window) {
        m_window = new DrawingWindow(m_name, infoOf(m_opened, m_name), this);
        connect(m_window, &DrawingWindow::drawn, this, [this](const io::Drawing& drawing, bool isDone) {
            const std::string before = m_source.toStdString();
            const auto noise = io::noiseOf(before);
            const std::string item = io::drawingItem(drawing);
            m_lastGiven = context::text(noise && *noise ? io::withNoise(item, **noise) : item);
            m_given.insert(m_lastGiven);
            Q_EMIT given(m_lastGiven, isDone);
        });
        if (const auto drawing = io::parseDrawing(io::withoutNoise(m_source.toStdString())))
            m_window->setDrawing(*drawing);
    }
    m_window->show();
    m_window->raise();
    m_window->activateWindow();
    m_window->setFocus();
}

}  // namespace sonde::panels
