#include "ui/window/start_page.h"

#include <QCommandLinkButton>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/window/recent_files.h"
#include "ui/window/samples.h"

namespace sonde::window {
namespace {

QLabel* heading(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setProperty("heading", true);
    QFont font = theme::Theme::instance().uiFont();
    font.setBold(true);
    label->setFont(font);
    return label;
}

constexpr int kSampleIcon = 48;

/// A picture in a square, so that all rows are equally high.
QIcon squareIcon(const QString& path) {
    constexpr int kSide = 2 * kSampleIcon;  // of a fine screen
    QImage square(kSide, kSide, QImage::Format_ARGB32_Premultiplied);
    square.fill(Qt::transparent);
    const QImage picture = QImage(path).scaled(kSide, kSide, Qt::KeepAspectRatio, Qt::SmoothTransformation);
    QPainter(&square).drawImage((kSide - picture.width()) / 2, (kSide - picture.height()) / 2, picture);
    return QPixmap::fromImage(square);
}

QIcon iconOf(const Sample& sample) {
    if (!sample.picture.isEmpty()) return squareIcon(sample.picture);
    const bool warns = sample.icon == QLatin1String("warning");
    return warns ? theme::icon(sample.icon, theme::ColorRole::WarningMark) : theme::icon(sample.icon);
}

void clear(QLayout* layout) {
    while (QLayoutItem* item = layout->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
}

}  // namespace

StartPage::StartPage(QWidget* parent) : QWidget(parent), m_recent(new QVBoxLayout), m_recentBox(new QWidget) {
    auto* content = new QWidget;
    content->setMaximumWidth(640);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(theme::kLarge, theme::kLarge * 2, theme::kLarge, theme::kLarge);
    column->setSpacing(theme::kSmall);

    auto* title = new QLabel(tr("Open a neural network"), content);
    title->setFont(theme::Theme::instance().titleFont());
    auto* text = new QLabel(
        tr("Drop a model file here — ONNX or TorchScript — or choose one. Nothing leaves this computer."), content);
    text->setWordWrap(true);
    auto* buttons = new QHBoxLayout;
    const QIcon icon = theme::icon(QStringLiteral("open"), theme::ColorRole::AccentText);  // as the text beside it
    auto* open = new QPushButton(icon, tr("Open File…"), content);
    open->setDefault(true);
    auto* builtIn = new QPushButton(theme::icon(QStringLiteral("module")), tr("Built-in Models…"), content);
    buttons->addWidget(open);
    buttons->addWidget(builtIn);
    buttons->addStretch(1);
    column->addWidget(title);
    column->addWidget(text);
    column->addLayout(buttons);
    column->addSpacing(theme::kLarge);

    const std::vector<Sample> all = samples();
    if (!all.empty()) column->addWidget(heading(tr("Try a model with a sample input"), content));
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto* button = new QCommandLinkButton(all[i].title, all[i].description + u' ' + all[i].next, content);
        button->setIcon(iconOf(all[i]));
        button->setIconSize({kSampleIcon, kSampleIcon});
        button->setObjectName(QStringLiteral("sample-") + all[i].id);
        connect(button, &QCommandLinkButton::clicked, this, [this, i] { Q_EMIT sampleChosen(static_cast<int>(i)); });
        column->addWidget(button);
    }
    column->addSpacing(theme::kLarge);

    auto* recentColumn = new QVBoxLayout(m_recentBox);
    recentColumn->setContentsMargins(0, 0, 0, 0);
    recentColumn->addWidget(heading(tr("Recent models"), m_recentBox));
    m_recent->setSpacing(theme::kTight);
    recentColumn->addLayout(m_recent);
    column->addWidget(m_recentBox);
    column->addStretch(1);

    auto* area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    auto* centred = new QWidget;
    auto* row = new QHBoxLayout(centred);
    row->setContentsMargins(0, 0, 0, 0);
    row->addStretch(1);
    row->addWidget(content, 8);
    row->addStretch(1);
    area->setWidget(centred);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(area);
    connect(open, &QPushButton::clicked, this, &StartPage::openRequested);
    connect(builtIn, &QPushButton::clicked, this, &StartPage::builtInRequested);
    setFocusProxy(open);
    refresh();
}

void StartPage::refresh() {
    clear(m_recent);
    const QStringList recent = RecentFiles::list();
    m_recentBox->setVisible(!recent.isEmpty());
    for (const QString& location : recent) {
        auto* row = new QWidget(m_recentBox);
        auto* line = new QHBoxLayout(row);
        line->setContentsMargins(0, 0, 0, 0);
        line->setSpacing(theme::kMedium);
        auto* link = new widgets::LinkLabel(shortLocation(location), location, row);
        auto* folder = new widgets::ElidedLabel(
            location.startsWith(QLatin1String("zoo:")) ? tr("built-in model") : QFileInfo(location).absolutePath(),
            row);
        folder->setColorRole(theme::ColorRole::MutedText);
        line->addWidget(link);
        line->addWidget(folder, 1);
        connect(link, &widgets::LinkLabel::activated, this,
                [this](const QVariant& target) { Q_EMIT modelChosen(target.toString()); });
        m_recent->addWidget(row);
    }
}

void StartPage::showEvent(QShowEvent* event) {
    refresh();
    QWidget::showEvent(event);
}

}  // namespace sonde::window
