#include "ui/dialogs/settings_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
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

    auto* form = new QFormLayout;
    form->setHorizontalSpacing(theme::kLarge);
    form->setVerticalSpacing(theme::kSmall);
    form->addRow(tr("&Look"), mode);
    form->addRow(tr("&Text size"), scale);
    form->addRow(QString(), motion);
    form->addRow(tr("Mouse &wheel"), wheel);
    form->addRow(tr("T&hreads of a run"), threads);
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
