#include "ui/dialogs/settings_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QThread>
#include <QVBoxLayout>

#include "ui/theme/theme.h"

namespace sonde::dialogs {

using theme::Theme;

namespace {

const QString kMode = QStringLiteral("theme/mode");
const QString kTextScale = QStringLiteral("theme/textScale");
const QString kReducedMotion = QStringLiteral("theme/reducedMotion");

}  // namespace

SettingsDialog::SettingsDialog(const Settings& settings, QWidget* parent) : QDialog(parent), m_settings(settings) {
    setWindowTitle(tr("Settings"));
    Theme& look = Theme::instance();
    auto* mode = new QComboBox(this);
    for (const auto& [value, title] : {std::pair(Theme::Mode::System, tr("As the system")), std::pair(Theme::Mode::Light, tr("Light")),
                                       std::pair(Theme::Mode::Dark, tr("Dark")), std::pair(Theme::Mode::HighContrast, tr("High contrast"))})
        mode->addItem(title, static_cast<int>(value));
    mode->setCurrentIndex(mode->findData(static_cast<int>(look.mode())));
    auto* scale = new QSpinBox(this);
    scale->setRange(75, 300);
    scale->setSingleStep(5);
    scale->setSuffix(QStringLiteral(" %"));
    scale->setValue(qRound(look.textScale() * 100));
    auto* motion = new QCheckBox(tr("Reduce motion"), this);
    motion->setChecked(look.reducedMotion());
    auto* wheel = new QComboBox(this);
    wheel->addItems({tr("Zooms; Shift+wheel scrolls"), tr("Scrolls; Ctrl+wheel zooms")});
    wheel->setCurrentIndex(settings.wheelZooms ? 0 : 1);
    auto* threads = new QSpinBox(this);
    threads->setRange(0, 256);
    threads->setSpecialValueText(tr("One per processor (%1)").arg(QThread::idealThreadCount()));
    threads->setValue(settings.threads);

    auto* groups = new QCheckBox(tr("Find groups in models without names"), this);
    groups->setObjectName(QStringLiteral("findsGroups"));
    groups->setChecked(settings.findsGroups);
    groups->setToolTip(tr("ONNX files that name no modules: repeated and closed parts of the graph are shown as groups; "
                          "off, the graph is shown as it is (--no-groups). The open file is read again"));
    auto* labels = new QPushButton(tr("Node &Labels…"), this);
    labels->setToolTip(tr("Choose what is written on the nodes"));
    auto* keys = new QPushButton(tr("&Keys…"), this);
    keys->setToolTip(tr("List every key and change it"));
    mode->setToolTip(tr("High contrast: black, white and few strong colours"));
    scale->setToolTip(tr("Of all text of the window, the graph's too"));
    motion->setToolTip(tr("Nothing moves by itself: modules open and the view jumps at once"));
    wheel->setToolTip(tr("What the wheel does on the canvas"));
    motion->setObjectName(QStringLiteral("reducedMotion"));
    mode->setObjectName(QStringLiteral("look"));
    scale->setObjectName(QStringLiteral("textSize"));
    wheel->setObjectName(QStringLiteral("wheel"));

    auto* form = new QFormLayout;
    form->setHorizontalSpacing(theme::kLarge);
    form->setVerticalSpacing(theme::kSmall);
    form->addRow(tr("&Look"), mode);
    form->addRow(tr("&Text size"), scale);
    form->addRow(QString(), motion);
    form->addRow(tr("Mouse &wheel"), wheel);
    form->addRow(tr("T&hreads of a run"), threads);
    form->addRow(QString(), groups);
    auto* more = new QHBoxLayout;
    more->addWidget(labels);
    more->addWidget(keys);
    more->addStretch(1);
    form->addRow(QString(), more);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kLarge, theme::kLarge, theme::kLarge, theme::kLarge);
    column->setSpacing(theme::kLarge);
    column->addLayout(form);
    column->addStretch(1);
    column->addWidget(buttons);

    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(mode, &QComboBox::activated, this, [mode] {
        Theme::instance().setMode(static_cast<Theme::Mode>(mode->currentData().toInt()));
        QSettings().setValue(kMode, Theme::modeKey(Theme::instance().mode()));
    });
    connect(scale, &QSpinBox::valueChanged, this, [](int percent) {
        Theme::instance().setTextScale(percent / 100.0);
        QSettings().setValue(kTextScale, Theme::instance().textScale());
    });
    connect(motion, &QCheckBox::toggled, this, [](bool reduced) {
        Theme::instance().setReducedMotion(reduced);
        QSettings().setValue(kReducedMotion, reduced);
    });
    connect(wheel, &QComboBox::activated, this, [this](int index) {
        m_settings.wheelZooms = index == 0;
        Q_EMIT changed(m_settings);
    });
    connect(groups, &QCheckBox::toggled, this, [this](bool on) {
        m_settings.findsGroups = on;
        Q_EMIT changed(m_settings);
    });
    connect(labels, &QPushButton::clicked, this, &SettingsDialog::labelsRequested);
    connect(keys, &QPushButton::clicked, this, &SettingsDialog::keysRequested);
    connect(threads, &QSpinBox::valueChanged, this, [this](int count) {
        m_settings.threads = count;
        Q_EMIT changed(m_settings);
    });
}

void applySavedLook() {
    const QSettings settings;
    Theme& look = Theme::instance();
    look.setMode(Theme::modeFromKey(settings.value(kMode).toString()));
    look.setTextScale(settings.value(kTextScale, 1.0).toDouble());
    look.setReducedMotion(settings.value(kReducedMotion, false).toBool());
}

}  // namespace sonde::dialogs
