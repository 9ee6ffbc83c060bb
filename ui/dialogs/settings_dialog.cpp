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

#include "core/base/thread_limits.h"
#include "ui/context/stored.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

using theme::Theme;

namespace {

const QString kMode = QStringLiteral("theme/mode");
const QString kTextScale = QStringLiteral("theme/textScale");
const QString kReducedMotion = QStringLiteral("theme/reducedMotion");

template <typename Control>
Control* named(Control* control, const QString& name, const QString& toolTip) {
    control->setObjectName(name);
    control->setToolTip(toolTip);
    return control;
}

}  // namespace

SettingsDialog::SettingsDialog(const Settings& settings, QWidget* parent) : QDialog(parent), m_settings(settings) {
    setWindowTitle(tr("Settings"));
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(theme::kLarge);
    form->setVerticalSpacing(theme::kSmall);
    form->addRow(tr("Th&eme"), lookChoice());
    form->addRow(tr("&Text size"), textSize());
    form->addRow(QString(), motionChoice());
    form->addRow(tr("Mouse &wheel"), wheelChoice());
    form->addRow(tr("T&hreads per run"), threadCount());
    form->addRow(tr("&Memory for debugging"), debugMemory());
    form->addRow(tr("&Keep of watched values"), watchedChoice());
    form->addRow(tr("Memory for watched &values"), watchedMemory());
    form->addRow(QString(), groupsChoice());
    form->addRow(QString(), furtherDialogs());
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kLarge, theme::kLarge, theme::kLarge, theme::kLarge);
    column->setSpacing(theme::kLarge);
    column->addLayout(form);
    column->addStretch(1);
    column->addWidget(buttons);
}

QWidget* SettingsDialog::lookChoice() {
    auto* look =
        named(new QComboBox(this), QStringLiteral("look"), tr("High contrast: black, white and few strong colours"));
    for (const auto& [value, title] :
         {std::pair(Theme::Mode::System, tr("System default")), std::pair(Theme::Mode::Light, tr("Light")),
          std::pair(Theme::Mode::Dark, tr("Dark")), std::pair(Theme::Mode::HighContrast, tr("High contrast"))})
        look->addItem(title, static_cast<int>(value));
    look->setCurrentIndex(look->findData(static_cast<int>(Theme::instance().mode())));
    connect(look, &QComboBox::activated, this, [look] {
        Theme::instance().setMode(static_cast<Theme::Mode>(look->currentData().toInt()));
        context::store(kMode, Theme::modeKey(Theme::instance().mode()));
    });
    return look;
}

QWidget* SettingsDialog::textSize() {
    auto* scale = named(new QSpinBox(this), QStringLiteral("textSize"), tr("Size of all text, including the graph"));
    scale->setRange(75, 300);
    scale->setSingleStep(5);
    scale->setSuffix(QStringLiteral(" %"));
    scale->setValue(qRound(Theme::instance().textScale() * 100));
    connect(scale, &QSpinBox::valueChanged, this, [](int percent) {
        Theme::instance().setTextScale(percent / 100.0);
        context::store(kTextScale, Theme::instance().textScale());
    });
    return scale;
}

QWidget* SettingsDialog::motionChoice() {
    auto* motion = named(new QCheckBox(tr("Reduce motion"), this), QStringLiteral("reducedMotion"),
                         tr("No animation: modules expand and the view moves immediately"));
    motion->setChecked(Theme::instance().reducedMotion());
    connect(motion, &QCheckBox::toggled, this, [](bool reduced) {
        Theme::instance().setReducedMotion(reduced);
        context::store(kReducedMotion, reduced);
    });
    return motion;
}

QWidget* SettingsDialog::wheelChoice() {
    auto* wheel = named(new QComboBox(this), QStringLiteral("wheel"), tr("What the wheel does on the canvas"));
    wheel->addItems({tr("Zooms; Ctrl+wheel scrolls"), tr("Scrolls; Ctrl+wheel zooms")});
    wheel->setCurrentIndex(m_settings.wheelZooms ? 0 : 1);
    connect(wheel, &QComboBox::activated, this, [this](int index) {
        m_settings.wheelZooms = index == 0;
        Q_EMIT changed(m_settings);
    });
    return wheel;
}

QWidget* SettingsDialog::threadCount() {
    auto* threads =
        named(new QSpinBox(this), QStringLiteral("threads"), tr("Maximum number of threads that a run uses"));
    threads->setRange(0, static_cast<int>(base::kMaxThreads));
    threads->setSpecialValueText(tr("One per processor (%1)").arg(QThread::idealThreadCount()));
    threads->setValue(m_settings.threads);
    connect(threads, &QSpinBox::valueChanged, this, [this](int count) {
        m_settings.threads = count;
        Q_EMIT changed(m_settings);
    });
    return threads;
}

QWidget* SettingsDialog::debugMemory() {
    auto* memory =
        named(new QSpinBox(this), QStringLiteral("debugMemory"),
              tr("Values of a debugged run that are kept in memory; others go to disk and come back when they "
                 "are shown. Counts from the next run on"));
    memory->setRange(0, 1 << 20);
    memory->setSingleStep(256);
    memory->setSuffix(tr(" MiB"));
    memory->setValue(m_settings.debugMemoryMib);
    connect(memory, &QSpinBox::valueChanged, this, [this](int mib) {
        m_settings.debugMemoryMib = mib;
        Q_EMIT changed(m_settings);
    });
    return memory;
}

QWidget* SettingsDialog::watchedChoice() {
    using session::WatchKeep;
    auto* keep = named(new QComboBox(this), QStringLiteral("watchKeep"),
                       tr("What a run keeps of the values of watch points, from the next run on"));
    for (const auto& [value, title] :
         {std::pair(WatchKeep::Full, tr("Whole values")),
          std::pair(WatchKeep::Sample, tr("Samples of %1").arg(m_settings.watched.sampleElements)),
          std::pair(WatchKeep::Statistics, tr("Statistics"))})
        keep->addItem(title, static_cast<int>(value));
    keep->setCurrentIndex(keep->findData(static_cast<int>(m_settings.watched.keep)));
    connect(keep, &QComboBox::activated, this, [this, keep] {
        m_settings.watched.keep = static_cast<WatchKeep>(keep->currentData().toInt());
        Q_EMIT changed(m_settings);
    });
    return keep;
}

QWidget* SettingsDialog::watchedMemory() {
    auto* memory = named(new QSpinBox(this), QStringLiteral("watchMemory"),
                         tr("Values of watch points that do not fit are kept as samples, then as statistics alone"));
    memory->setRange(0, 1 << 24);
    memory->setSingleStep(256);
    memory->setSuffix(tr(" MiB"));
    memory->setValue(static_cast<int>(m_settings.watched.budgetBytes >> 20));
    connect(memory, &QSpinBox::valueChanged, this, [this](int mib) {
        m_settings.watched.budgetBytes = static_cast<std::size_t>(mib) << 20;
        Q_EMIT changed(m_settings);
    });
    return memory;
}

QWidget* SettingsDialog::groupsChoice() {
    auto* groups =
        named(new QCheckBox(tr("Find groups in models without module names"), this), QStringLiteral("findsGroups"),
              tr("For ONNX files without module names: show repeated and self-contained parts of the graph as groups. "
                 "Changing this reloads the open file"));
    groups->setChecked(m_settings.findsGroups);
    connect(groups, &QCheckBox::toggled, this, [this](bool on) {
        m_settings.findsGroups = on;
        Q_EMIT changed(m_settings);
    });
    return groups;
}

QWidget* SettingsDialog::furtherDialogs() {
    auto* row = new QWidget(this);
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    auto* labels =
        named(new QPushButton(tr("Node &Labels…"), row), QStringLiteral("labels"), tr("Choose the text on the nodes"));
    auto* keys = named(new QPushButton(tr("&Shortcuts…"), row), QStringLiteral("keys"),
                       tr("Show and change keyboard shortcuts"));
    for (QPushButton* button : {labels, keys}) button->setAutoDefault(false);  // Enter closes the dialog
    connect(labels, &QPushButton::clicked, this, &SettingsDialog::labelsRequested);
    connect(keys, &QPushButton::clicked, this, &SettingsDialog::keysRequested);
    line->addWidget(labels);
    line->addWidget(keys);
    line->addStretch(1);
    return row;
}

void applySavedLook() {
    const QSettings settings;
    Theme& look = Theme::instance();
    look.setMode(Theme::modeFromKey(settings.value(kMode).toString()));
    look.setTextScale(settings.value(kTextScale, 1.0).toDouble());
    look.setReducedMotion(settings.value(kReducedMotion, false).toBool());
}

}  // namespace sonde::dialogs
