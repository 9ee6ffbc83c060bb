#include "ui/dialogs/shortcuts_dialog.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "ui/actions/action_registry.h"
#include "ui/theme/theme.h"
#include "ui/widgets/search_field.h"

namespace sonde::dialogs {

ShortcutsDialog::ShortcutsDialog(actions::ActionRegistry& registry, QWidget* parent)
    : QDialog(parent), m_registry(registry), m_list(new QTreeWidget(this)), m_edit(new QKeySequenceEdit(this)),
      m_conflict(new QLabel(this)) {
    setWindowTitle(tr("Keyboard Shortcuts"));
    resize(640, 520);
    auto* field = new widgets::SearchField(this);
    field->setNavigable(false);
    field->setPlaceholderText(tr("Filter actions"));
    m_list->setHeaderLabels({tr("Action"), tr("Menu"), tr("Keys")});
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setAlternatingRowColors(true);
    m_list->header()->resizeSection(0, 240);
    m_list->header()->resizeSection(1, 150);
    auto* assignButton = new QPushButton(tr("&Assign"), this);
    assignButton->setAutoDefault(false);
    auto* reset = new QPushButton(tr("Restore &Defaults"), this);
    reset->setAutoDefault(false);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* row = new QHBoxLayout;
    row->addWidget(new QLabel(tr("New key"), this));
    row->addWidget(m_edit, 1);
    row->addWidget(assignButton);
    row->addWidget(reset);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(theme::kSmall);
    column->addWidget(field);
    column->addWidget(m_list, 1);
    column->addLayout(row);
    column->addWidget(m_conflict);
    column->addWidget(buttons);
    connect(field, &widgets::SearchField::textChanged, this, &ShortcutsDialog::filter);
    connect(m_list, &QTreeWidget::currentItemChanged, this, &ShortcutsDialog::choose);
    connect(assignButton, &QPushButton::clicked, this, &ShortcutsDialog::assign);
    connect(m_edit, &QKeySequenceEdit::keySequenceChanged, this, [this](const QKeySequence& key) {
        const QStringList others =
            key.isEmpty() || m_chosen.isEmpty() ? QStringList() : m_registry.conflicts(m_chosen, key);
        QStringList names;
        for (const QString& id : others) names << QString(m_registry.info(id).text).remove(QLatin1Char('&'));
        m_conflict->setText(names.isEmpty() ? QString()
                                            : tr("Already used by: %1").arg(names.join(QStringLiteral(", "))));
    });
    connect(reset, &QPushButton::clicked, this, [this] {
        m_registry.resetShortcuts();
        fill();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    fill();
}

void ShortcutsDialog::fill() {
    m_list->clear();
    for (const QString& id : m_registry.ids()) {
        if (!m_registry.action(id)->isVisible()) continue;
        const actions::ActionInfo& info = m_registry.info(id);
        QStringList keys;
        for (const QKeySequence& key : m_registry.shortcuts(id)) keys << key.toString(QKeySequence::NativeText);
        QString menu = info.menu;
        auto* item =
            new QTreeWidgetItem(m_list, {QString(info.text).remove(QLatin1Char('&')),
                                         menu.remove(QLatin1Char('-')).replace(QLatin1Char('/'), QStringLiteral(" › ")),
                                         keys.join(QStringLiteral(", "))});
        item->setToolTip(0, info.toolTip);
        item->setData(0, Qt::UserRole, id);
    }
}

void ShortcutsDialog::filter(const QString& text) {
    for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
        QTreeWidgetItem* item = m_list->topLevelItem(i);
        bool match = false;
        for (int column = 0; column < 3; ++column)
            match = match || item->text(column).contains(text, Qt::CaseInsensitive);
        item->setHidden(!match);
    }
}

void ShortcutsDialog::choose(QTreeWidgetItem* item) {
    m_chosen = item ? item->data(0, Qt::UserRole).toString() : QString();
    const QList<QKeySequence> keys = m_chosen.isEmpty() ? QList<QKeySequence>() : m_registry.shortcuts(m_chosen);
    m_edit->setKeySequence(keys.isEmpty() ? QKeySequence() : keys.first());
    m_conflict->clear();
}

void ShortcutsDialog::assign() {
    if (m_chosen.isEmpty()) return;
    const QKeySequence key = m_edit->keySequence();
    m_registry.setShortcuts(m_chosen, key.isEmpty() ? QList<QKeySequence>() : QList<QKeySequence>{key});
    if (QTreeWidgetItem* item = m_list->currentItem()) item->setText(2, key.toString(QKeySequence::NativeText));
}

}  // namespace sonde::dialogs
