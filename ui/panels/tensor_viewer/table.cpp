#include <QAbstractTableModel>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTableView>
#include <QVBoxLayout>

#include <functional>

#include "core/tensor/mapped_source.h"
#include "ui/panels/row_delegate.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/bad_value.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {
namespace {

// Header views keep a record for every section; further rows and columns are reached through the slice.
constexpr std::int64_t kMaxTableRows = 1'000'000;
constexpr std::int64_t kMaxColumns = 20'000;
/// Numbers copied at once when nothing is selected.
constexpr std::int64_t kMaxCopied = 1'000'000;

class PlaneModel : public QAbstractTableModel {
  public:
    /// What is typed into a cell; the plane is another one later.
    using Typed = std::function<void(int row, int column, const QString& text)>;
    PlaneModel(Typed typed, QObject* parent) : QAbstractTableModel(parent), m_typed(std::move(typed)) {}

    void setEditable(bool isEditable) { m_isEditable = isEditable; }
    bool isEditable() const { return m_isEditable; }
    Qt::ItemFlags flags(const QModelIndex& at) const override {
        const Qt::ItemFlags flags = QAbstractTableModel::flags(at);
        return m_isEditable && at.isValid() ? flags | Qt::ItemIsEditable : flags;
    }
    bool setData(const QModelIndex& at, const QVariant& value, int role) override {
        const QString typed = value.toString().trimmed();
        if (role == Qt::EditRole && !m_isChanging && !typed.isEmpty() && typed != exactText(at))
            m_typed(at.row(), at.column(), typed);
        return false;
    }

    /// `isAnother`: than the one that an open editor is of, which goes.
    void setPlane(const tensor::Tensor& plane, bool isAnother) {
        const bool stays = !isAnother && m_plane.defined() && m_plane.shape() == plane.shape();
        m_isChanging = true;
        if (!stays) beginResetModel();
        m_plane = plane;
        if (!stays) endResetModel();
        m_isChanging = false;
        if (!stays) return;
        if (rowCount() > 0 && columnCount() > 0)
            Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    }
    const tensor::Tensor& plane() const { return m_plane; }

    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() || !m_plane.defined() ? 0 : static_cast<int>(std::min(m_plane.dim(0), kMaxTableRows));
    }
    int columnCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() || !m_plane.defined() ? 0 : static_cast<int>(std::min(m_plane.dim(1), kMaxColumns));
    }
    QVariant headerData(int section, Qt::Orientation, int role) const override {
        if (role == Qt::TextAlignmentRole) return alignment();
        return role == Qt::DisplayRole ? QVariant(section) : QVariant();
    }
    QString text(int row, int column) const {
        return QString::fromStdString(m_plane.elementText(row * m_plane.dim(1) + column));
    }
    /// With the digits that tell one number from the next.
    QString exactText(const QModelIndex& at) const {
        return QString::fromStdString(m_plane.elementText(at.row() * m_plane.dim(1) + at.column(), 9));
    }
    /// What was just read is of a file that changed: it is not to be shown.
    bool isStale() const { return tensor::isSourceChanged(m_plane); }
    QVariant data(const QModelIndex& at, int role) const override {
        switch (role) {
            case Qt::DisplayRole:
            case Qt::ToolTipRole: {
                const QString shown = text(at.row(), at.column());
                return isStale() ? QVariant() : QVariant(shown);
            }
            case Qt::EditRole: return isStale() ? QVariant() : QVariant(exactText(at));
            case Qt::TextAlignmentRole: return alignment();
            case Qt::ForegroundRole:
            case Qt::BackgroundRole: {
                if (m_plane.dtype() == tensor::DType::String) return {};
                const auto bad = widgets::badValueOf(m_plane.toDouble(at.row() * m_plane.dim(1) + at.column()));
                if (bad == widgets::BadValue::None) return {};
                const widgets::BadInk ink = widgets::badInk(bad);
                return QColor(role == Qt::ForegroundRole ? ink.ink : ink.background);
            }
            default: return {};
        }
    }

  private:
    QVariant alignment() const {
        return QVariant((m_plane.dtype() == tensor::DType::String ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }

    tensor::Tensor m_plane;
    Typed m_typed;
    bool m_isEditable = false;
    bool m_isChanging = false;  ///< what an editor still has is of the plane before
};

class Table : public TensorView {
  public:
    Table()
        : m_table(new QTableView(this)), m_note(new QLabel(this)),
          m_model(
              new PlaneModel([this](int row, int column,
                                    const QString& text) { Q_EMIT edited(sliceOfCell(m_shown, row, column), text); },
                             this)) {
        m_table->setModel(m_model);
        m_table->setItemDelegate(new RowDelegate(m_table));
        m_table->setAccessibleName(tr("Values"));
        m_table->setAlternatingRowColors(true);
        m_table->setSelectionMode(QAbstractItemView::ContiguousSelection);
        m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
        m_table->installEventFilter(this);
        for (QScrollBar* bar : {m_table->horizontalScrollBar(), m_table->verticalScrollBar()})
            connect(bar, &QScrollBar::valueChanged, this, &TensorView::moved);
        m_table->setTabKeyNavigation(false);
        m_table->setWordWrap(false);
        m_table->setFrameShape(QFrame::NoFrame);
        for (QHeaderView* header : {m_table->horizontalHeader(), m_table->verticalHeader()}) {
            header->setSectionResizeMode(QHeaderView::Fixed);
            header->setHighlightSections(true);
        }
        refreshFont();
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->addWidget(m_table, 1);
        column->addWidget(m_note);
        m_note->hide();
        setFocusProxy(m_table);
        connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& at) {
            tell(at);
            if (at.isValid()) Q_EMIT cursorMoved(at.row(), at.column());
        });
        for (const auto signal : {&QTableView::clicked, &QTableView::activated})
            connect(m_table, signal, this, [this](const QModelIndex& at) { Q_EMIT picked(at.row(), at.column()); });
        connect(&theme::Theme::instance(), &theme::Theme::changed, this, &Table::refreshFont);
    }

    void show(const ViewedTensor& shown) override {
        const bool isSame = m_shown.tensor.defined() && m_shown.tensor.storage() == shown.tensor.storage() &&
                            m_shown.slice == shown.slice;
        m_shown = shown;
        m_model->setEditable(shown.isEditable);
        m_model->setPlane(shown.plane, !isSame && m_table->viewport()->findChild<QLineEdit*>());
        refreshWidth();
        if (const QModelIndex at = m_table->currentIndex(); !isSame && at.isValid()) tell(at);
        QStringList cut;
        if (shown.plane.dim(0) > kMaxTableRows)
            cut << tr("the first %1 of %2 rows").arg(kMaxTableRows).arg(shown.plane.dim(0));
        if (shown.plane.dim(1) > kMaxColumns)
            cut << tr("the first %1 of %2 columns").arg(kMaxColumns).arg(shown.plane.dim(1));
        m_note->setText(tr("Showing %1").arg(cut.join(tr(" and "))));
        m_note->setVisible(!cut.isEmpty());
    }

    QString copyText() const override {
        // By its corners: a list of all that is selected would be larger than the tensor.
        const QItemSelection selection = m_table->selectionModel()->selection();
        int top = 0, left = 0, bottom = m_model->rowCount() - 1, right = m_model->columnCount() - 1;
        if (!selection.isEmpty()) {
            const QItemSelectionRange range = selection.first();
            top = range.top(), left = range.left(), bottom = range.bottom(), right = range.right();
            if (top == bottom && left == right) {
                const QString text = m_model->text(top, left);
                return m_model->isStale() ? QString() : text;
            }
        }
        if (static_cast<std::int64_t>(bottom - top + 1) * (right - left + 1) > kMaxCopied)
            bottom = top + static_cast<int>(kMaxCopied / std::max(1, right - left + 1));
        QString text;
        for (int row = top; row <= bottom; ++row) {
            for (int column = left; column <= right; ++column) {
                if (column > left) text += QLatin1Char('\t');
                text += m_model->text(row, column);
            }
            text += QLatin1Char('\n');
        }
        return m_model->isStale() ? QString() : text;
    }

    widgets::HeatMapView::Place place() const override {
        return {0, {m_table->horizontalScrollBar()->value(), m_table->verticalScrollBar()->value()}, false};
    }
    void setPlace(const widgets::HeatMapView::Place& place) override {
        m_table->horizontalScrollBar()->setValue(place.scroll.x());
        m_table->verticalScrollBar()->setValue(place.scroll.y());
    }

    QRect selectedCells() const override {
        const QItemSelection selection = m_table->selectionModel()->selection();
        if (selection.isEmpty()) return {};
        const QItemSelectionRange range = selection.first();
        return {range.left(), range.top(), range.width(), range.height()};
    }

    /// F2 edits a cell; elsewhere it goes to the next bookmark.
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::ShortcutOverride && m_model->isEditable()) {
            const auto* key = static_cast<QKeyEvent*>(event);
            if (QKeySequence(key->keyCombination()) == QKeySequence::fromString(QStringLiteral("F2"))) {
                event->accept();
                return true;
            }
        }
        return TensorView::eventFilter(watched, event);
    }

    void pointAt(qint64 row, qint64 column) override {
        if (row >= m_model->rowCount() || column >= m_model->columnCount()) return;
        const QModelIndex at = m_model->index(static_cast<int>(row), static_cast<int>(column));
        m_table->setCurrentIndex(at);
        m_table->scrollTo(at, QAbstractItemView::PositionAtCenter);
    }

  private:
    void tell(const QModelIndex& at) {
        Q_EMIT pointed(elementReadOut(m_shown, at.row(), at.column()),
                       at.isValid() && isNumeric(m_shown.plane)
                           ? m_shown.plane.toDouble(at.row() * m_shown.plane.dim(1) + at.column())
                           : std::numeric_limits<double>::quiet_NaN());
    }

    void refreshFont() {
        m_table->setFont(theme::Theme::instance().monoFont());
        m_table->verticalHeader()->setDefaultSectionSize(QFontMetrics(m_table->font()).height() + theme::kSmall);
        refreshWidth();
    }

    /// A column holds every number of the tensor; strings may be of any length.
    void refreshWidth() {
        QString widest = QStringLiteral("-0.000000e-00");
        if (m_shown.plane.defined() && tensor::isComplex(m_shown.plane.dtype()))
            widest += QStringLiteral("-0.000000e-00j");
        if (const auto& stats = m_shown.stats; stats && stats->count > 0 && tensor::isInteger(m_shown.plane.dtype()))
            for (const double extreme : {stats->minimum, stats->maximum})
                if (const QString text = QString::number(extreme, 'f', 0); text.size() > widest.size()) widest = text;
        const int width = QFontMetrics(m_table->font()).horizontalAdvance(widest) + theme::kMedium;
        if (width != m_table->horizontalHeader()->defaultSectionSize())
            m_table->horizontalHeader()->setDefaultSectionSize(width);
    }

    QTableView* m_table;
    QLabel* m_note;
    PlaneModel* m_model;
    ViewedTensor m_shown;
};

bool hasElements(const tensor::Tensor& tensor) { return tensor.defined(); }

}  // namespace

TensorViewInfo tableView() {
    TensorViewInfo info;
    info.id = QStringLiteral("table");
    info.title = QStringLiteral("Table");
    info.icon = QStringLiteral("table");
    info.description = QStringLiteral("Values of a slice as numbers");
    info.accepts = hasElements;
    info.usesSlice = true;
    info.factory = [] { return new Table; };
    return info;
}

}  // namespace sonde::panels
