#include "ui/panels/inputs/drawing_window.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "ui/theme/theme.h"
#include "ui/widgets/drawing_pad.h"

namespace sonde::panels {

namespace {

using widgets::DrawingPad;
using widgets::PadDrawing;

constexpr int kThumbnail = 72;  ///< of the pixels that the model gets
constexpr double kThousand = 1000;

int thousandths(double part, int low, int high) {
    return std::clamp(static_cast<int>(std::lround(part * kThousand)), low, high);
}

io::Drawing plain(const PadDrawing& pad) {
    io::Drawing made{pad.isWhiteOnBlack, {}};
    for (const PadDrawing::Line& line : pad.lines) {
        io::Stroke stroke{line.isEraser, thousandths(line.size, 1, io::Stroke::kMaxSize), {}};
        for (const QPointF& at : line.points)
            stroke.points.emplace_back(thousandths(at.x(), io::Stroke::kMinPlace, io::Stroke::kMaxPlace),
                                       thousandths(at.y(), io::Stroke::kMinPlace, io::Stroke::kMaxPlace));
        made.strokes.push_back(std::move(stroke));
    }
    return made;
}

PadDrawing onPad(const io::Drawing& drawing) {
    PadDrawing made{drawing.isWhiteOnBlack, {}};
    for (const io::Stroke& stroke : drawing.strokes) {
        PadDrawing::Line line{stroke.isEraser, stroke.size / kThousand, {}};
        for (const auto& [x, y] : stroke.points) line.points << QPointF(x / kThousand, y / kThousand);
        made.lines.push_back(std::move(line));
    }
    return made;
}

}  // namespace

QImage imageOf(const io::Image& pixels) {
    return QImage(pixels.rgb.data(), pixels.width, pixels.height, 3 * pixels.width, QImage::Format_RGB888).copy();
}

DrawingWindow::DrawingWindow(const QString& inputName, const io::InputInfo& input, QWidget* parent)
    : QDialog(parent, Qt::Tool), m_input(input), m_pad(new DrawingPad), m_size(new QSlider(Qt::Horizontal)),
      m_pixels(new QLabel), m_text(new QLabel) {
    setWindowTitle(tr("Draw %1").arg(inputName));
    setObjectName(QStringLiteral("drawing.") + inputName);
    m_pad->setAccessibleName(tr("Drawing for input %1").arg(inputName));
    if (const auto empty = io::drawnImage(io::Drawing(), m_input)) m_pad->setPaper({empty->width, empty->height});
    m_size->setRange(thousandths(DrawingPad::kMinPen, 1, 1000), thousandths(DrawingPad::kMaxPen, 1, 1000));
    m_size->setToolTip(tr("Thickness of pen and eraser (+ and - on the pad)"));
    m_size->setAccessibleName(tr("Thickness of the pen"));
    m_size->setObjectName(QStringLiteral("penSize"));
    auto* tools = new QHBoxLayout;
    m_eraser =
        addButton(*tools, "eraser", tr("Eraser"), tr("Take away what is drawn (E on the pad, or the right button)"));
    m_eraser->setCheckable(true);
    tools->addWidget(new QLabel(tr("Size")));
    tools->addWidget(m_size, 1);
    auto* changes = new QHBoxLayout;
    m_undo = addButton(*changes, "undoDrawing", tr("Undo"), tr("Undo the last line (Ctrl+Z on the pad)"));
    m_redo = addButton(*changes, "redoDrawing", tr("Redo"), tr("Draw the line again (Ctrl+Y on the pad)"));
    m_clear = addButton(*changes, "clearDrawing", tr("Clear"), tr("Take away all lines (Delete on the pad)"));
    QToolButton* const invert =
        addButton(*changes, "invertDrawing", tr("Invert"), tr("White on black, or black on white (I on the pad)"));
    changes->addStretch(1);
    QToolButton* const saving =
        addButton(*changes, "saveDrawing", tr("Save…"), tr("Save the pixels that the model gets as a PNG file"));
    m_text->setWordWrap(true);
    m_pixels->setFixedSize(kThumbnail, kThumbnail);
    m_pixels->setAlignment(Qt::AlignCenter);
    m_pixels->setAccessibleName(tr("Pixels that the model gets"));
    auto* below = new QHBoxLayout;
    below->addWidget(m_pixels);
    below->addWidget(m_text, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kSmall, theme::kSmall, theme::kSmall, theme::kSmall);
    column->setSpacing(theme::kTight);
    column->addLayout(tools);
    column->addWidget(m_pad, 1);
    column->addLayout(changes);
    column->addLayout(below);
    connect(m_pad, &DrawingPad::stateChanged, this, &DrawingWindow::showState);
    connect(m_pad, &DrawingPad::drawn, this, [this](bool isDone) {
        showPixels();
        Q_EMIT drawn(drawing(), isDone);
    });
    connect(m_eraser, &QToolButton::clicked, m_pad, &DrawingPad::setErasing);
    connect(m_size, &QSlider::valueChanged, m_pad, [this](int size) { m_pad->setPenSize(size / kThousand); });
    connect(m_undo, &QToolButton::clicked, m_pad, &DrawingPad::undo);
    connect(m_redo, &QToolButton::clicked, m_pad, &DrawingPad::redo);
    connect(m_clear, &QToolButton::clicked, m_pad, &DrawingPad::clear);
    connect(invert, &QToolButton::clicked, m_pad, &DrawingPad::invert);
    connect(saving, &QToolButton::clicked, this, &DrawingWindow::save);
    setFocusProxy(m_pad);
    showState();
    showPixels();
}

QToolButton* DrawingWindow::addButton(QHBoxLayout& row, const char* name, const QString& text, const QString& toolTip) {
    auto* button = new QToolButton;
    button->setObjectName(QLatin1String(name));
    button->setText(text);
    button->setToolTip(toolTip);
    row.addWidget(button);
    return button;
}

void DrawingWindow::setDrawing(const io::Drawing& given) {
    if (given == drawing()) return;  // with finer places than the text of an input has
    m_pad->setDrawing(onPad(given));
    showPixels();
}

io::Drawing DrawingWindow::drawing() const { return plain(m_pad->drawing()); }

void DrawingWindow::showState() {
    m_eraser->setChecked(m_pad->isErasing());
    const QSignalBlocker quiet(m_size);
    m_size->setValue(thousandths(m_pad->penSize(), 1, 1000));
    m_undo->setEnabled(m_pad->canUndo());
    m_redo->setEnabled(m_pad->canRedo());
    m_clear->setEnabled(!m_pad->drawing().lines.empty());
    showPixels();
}

void DrawingWindow::showPixels() {
    const auto pixels = io::drawnImage(drawing(), m_input);
    if (!pixels) return m_text->setText(QString::fromStdString(pixels.error().what));
    m_image = imageOf(*pixels);
    m_pixels->setPixmap(
        QPixmap::fromImage(m_image.scaled(kThumbnail, kThumbnail, Qt::KeepAspectRatio, Qt::FastTransformation)));
    const QString size = tr("%1 × %2 pixels, as the model gets them").arg(m_image.width()).arg(m_image.height());
    m_text->setText(m_pad->isFull() ? size + QLatin1Char('\n') + tr("The drawing is full: undo or clear lines") : size);
}

void DrawingWindow::save() {
    auto* dialog = new QFileDialog(this, tr("Save Drawing"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("PNG images (*.png)")});
    dialog->setDefaultSuffix(QStringLiteral("png"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        const bool isSaved = m_image.save(path, "PNG");
        m_text->setText(isSaved ? tr("Saved: %1").arg(path) : tr("The file cannot be written: %1").arg(path));
    });
    dialog->open();
}

}  // namespace sonde::panels
