#include "ui/panels/edits/edit_form.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/context/window_hint.h"
#include "ui/theme/theme.h"
#include "ui/widgets/colored_label.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using session::EditPlace;

namespace {

/// What can be done with a slice. The words are those of the commands `set` and `edit`.
struct OperationRow {
    const char* word;
    const char* title;
    const char* placeholder;  ///< of its argument; empty: it has none
    const char* usual;        ///< the argument to begin with
    const char* description;
};
constexpr OperationRow kOperations[] = {
    {"=", QT_TRANSLATE_NOOP("EditForm", "Set to"), QT_TRANSLATE_NOOP("EditForm", "expression: 0.5, conv1 * 2"), "",
     QT_TRANSLATE_NOOP("EditForm",
                       "The expression is broadcast to the slice; the node's own name is its value before")},
    {"load", QT_TRANSLATE_NOOP("EditForm", "Load .npy"), QT_TRANSLATE_NOOP("EditForm", "file"), "",
     QT_TRANSLATE_NOOP("EditForm", "An array of a file is broadcast to the slice")},
    {"zero", QT_TRANSLATE_NOOP("EditForm", "Set to zero"), "", "",
     QT_TRANSLATE_NOOP("EditForm", "Every element of the slice becomes zero")},
    {"noise", QT_TRANSLATE_NOOP("EditForm", "Add noise"), QT_TRANSLATE_NOOP("EditForm", "deviation, seed: 0.1 7"),
     "0.1 0",
     QT_TRANSLATE_NOOP("EditForm", "Adds normally distributed numbers of this standard deviation, from a seed")},
    {"scale", QT_TRANSLATE_NOOP("EditForm", "Scale by"), QT_TRANSLATE_NOOP("EditForm", "factor"), "0.5",
     QT_TRANSLATE_NOOP("EditForm", "Multiplies the slice")},
    {"swap", QT_TRANSLATE_NOOP("EditForm", "Swap channels"),
     QT_TRANSLATE_NOOP("EditForm", "axis, two channels: 1 0 3; of heads: 2 0 3 of 12"), "1 0 1",
     QT_TRANSLATE_NOOP("EditForm", "Exchanges two channels of an axis, or two of so many heads along it")},
    {"remove", QT_TRANSLATE_NOOP("EditForm", "Remove channels"),
     QT_TRANSLATE_NOOP("EditForm", "axis, channels: 1 5 6; of heads: 2 3 of 12"), "1 0",
     QT_TRANSLATE_NOOP("EditForm", "Sets channels of an axis to zero, or some of so many heads along it")},
};

const OperationRow& rowAt(int index) { return kOperations[std::max(index, 0)]; }

QLineEdit* makeField(const char* name, const QString& placeholder, const QString& title, QWidget* parent) {
    auto* field = new QLineEdit(parent);
    field->setObjectName(QLatin1String(name));
    field->setPlaceholderText(placeholder);
    field->setAccessibleName(title);
    return field;
}

}  // namespace

EditForm::EditForm(context::Edits& edits, QWidget* parent)
    : QWidget(parent), m_edits(edits), m_node(makeField("editNode", tr("node or weight"), tr("What to edit"), this)),
      m_slice(makeField("editSlice", tr("slice: 0, 3:5"), tr("Slice"), this)), m_operation(new QComboBox(this)),
      m_argument(makeField("editArgument", {}, tr("Change"), this)),
      m_browse(widgets::makeToolButton(QStringLiteral("open"), tr("Choose a .npy file"), this)),
      m_apply(new QPushButton(tr("&Apply"), this)), m_error(new widgets::ColoredLabel(theme::ColorRole::Error, this)) {
    m_node->setToolTip(tr("A node, its number (#12), an input, or a weight by its name (fc.weight)"));
    m_slice->setToolTip(tr("Which elements, as in numpy: 0, 3:5 or ..., 1 or conv1 < 0; empty: all of them"));
    m_operation->setObjectName(QStringLiteral("editOperation"));
    m_operation->setAccessibleName(tr("What to do"));
    for (const OperationRow& row : kOperations) {
        m_operation->addItem(tr(row.title), QLatin1String(row.word));
        m_operation->setItemData(m_operation->count() - 1, tr(row.description), Qt::ToolTipRole);
    }
    m_apply->setObjectName(QStringLiteral("editApply"));
    m_error->setObjectName(QStringLiteral("editError"));
    m_error->setTextFormat(Qt::RichText);
    m_error->setWordWrap(true);
    m_error->hide();
    auto* row = new QHBoxLayout;
    row->setSpacing(theme::kSmall);
    row->addWidget(m_node, 3);
    row->addWidget(m_slice, 2);
    row->addWidget(m_operation);
    row->addWidget(m_argument, 4);
    row->addWidget(m_browse);
    row->addWidget(m_apply);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    column->setSpacing(theme::kTight);
    column->addLayout(row);
    column->addWidget(m_error);
    connect(m_operation, &QComboBox::currentIndexChanged, this, &EditForm::chooseOperation);
    connect(m_browse, &QToolButton::clicked, this, &EditForm::browse);
    connect(m_apply, &QPushButton::clicked, this, &EditForm::apply);
    for (QLineEdit* field : {m_node, m_slice, m_argument})
        connect(field, &QLineEdit::returnPressed, this, &EditForm::apply);
    m_operation->installEventFilter(this);  // Return applies there, too: some operations need nothing else
    // Whoever made it: what was refused before is no news then.
    connect(&edits, &context::Edits::accepted, this, &EditForm::clearError);
    connect(&edits, &context::Edits::refused, this,
            [this](QObject* asker, const base::Error& error, const EditPlace& place) {
                if (asker == this) showError(error, place);
            });
    setFocusProxy(m_node);
    chooseOperation();
}

void EditForm::begin(const QString& node, const QString& slice) {
    m_node->setText(node);
    m_slice->setText(slice);
    clearError();
    m_operation->setFocus();
}

void EditForm::setOpen(bool isOpen) {
    m_apply->setEnabled(isOpen);
    if (!isOpen) clearError();
}

QString EditForm::errorText() const { return m_error->isHidden() ? QString() : m_error->text(); }

void EditForm::chooseOperation() {
    const OperationRow& row = rowAt(m_operation->currentIndex());
    const bool hasArgument = row.placeholder[0] != 0;
    m_argument->setVisible(hasArgument);
    m_browse->setVisible(QLatin1String(row.word) == u"load");
    m_argument->setPlaceholderText(hasArgument ? tr(row.placeholder) : QString());
    m_argument->setToolTip(tr(row.description));
    m_operation->setToolTip(tr(row.description));
    m_argument->setText(QLatin1String(row.usual));
    clearError();
}

void EditForm::browse() {
    auto* dialog = new QFileDialog(this, tr("Array for the Slice"), {}, tr("NumPy arrays (*.npy)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, m_argument, &QLineEdit::setText);
    dialog->open();
}

void EditForm::apply() {
    if (!m_apply->isEnabled()) return;
    clearError();
    EditPlace place;
    auto edit = m_edits.read({m_node->text(), m_slice->text(), m_operation->currentData().toString(),
                              m_argument->isHidden() ? QString() : m_argument->text()},
                             place);
    if (!edit) return showError(edit.error(), place);
    m_edits.add(edit->first, edit->second, this);
}

bool EditForm::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            apply();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void EditForm::clearError() {
    m_error->hide();
    m_error->clear();
}

/// The field that it is about has the cursor, at the place.
void EditForm::showError(const base::Error& error, const EditPlace& place) {
    QLineEdit* const field = place.part == EditPlace::Part::Value   ? m_argument
                             : place.part == EditPlace::Part::Slice ? m_slice
                                                                    : m_node;
    QString text = QString::fromStdString(error.what).toHtmlEscaped();
    if (place.part != EditPlace::Part::Target && !field->isHidden()) {
        const QString name = place.part == EditPlace::Part::Slice ? tr("slice") : tr("change");
        text += tr(" (%1, column %2)").arg(name).arg(place.column);
        field->setFocus();
        field->setCursorPosition(static_cast<int>(place.column) - 1);
    }
    if (const QString hint = context::windowHint(error.hint); !hint.isEmpty())
        text += QStringLiteral(" \u2014 ") + hint.toHtmlEscaped();
    m_error->setText(text);
    m_error->show();
}

}  // namespace sonde::panels
