"""Opens two files with ParaView and compares what it reads: pvpython compare_frames.py whole.vtu pieces.pvtu"""
import sys

import numpy
from paraview import servermanager, simple
from vtkmodules.util.numpy_support import vtk_to_numpy


def opened(file):
    reader = simple.OpenDataFile(file)
    integral = simple.IntegrateVariables(Input=reader)
    return servermanager.Fetch(reader), servermanager.Fetch(integral)


def arrays(fields):
    return {fields.GetArrayName(i): vtk_to_numpy(fields.GetArray(i)) for i in range(fields.GetNumberOfArrays())}


def cell_types(grid):
    types = [grid.GetCellType(c) for c in range(grid.GetNumberOfCells())]
    return {t: types.count(t) for t in set(types)}


def near(name, a, b):
    assert numpy.allclose(a, b, rtol=1e-9, atol=1e-12), f"{name}: {a} and {b}"


(whole, sums), (pieces, sums_of_pieces) = (opened(file) for file in sys.argv[1:3])
assert whole.GetNumberOfCells() > 0
assert cell_types(whole) == cell_types(pieces), "cells"

# Points where pieces meet are in each of them.
points, points_of_pieces = (vtk_to_numpy(grid.GetPoints().GetData()) for grid in (whole, pieces))
number = {tuple(p): i for i, p in enumerate(points)}
assert set(number) == {tuple(p) for p in points_of_pieces}, "points"
at = [number[tuple(p)] for p in points_of_pieces]
fields, fields_of_pieces = arrays(whole.GetPointData()), arrays(pieces.GetPointData())
assert fields.keys() == fields_of_pieces.keys() and "velocity" in fields
for name in fields:
    assert (fields[name][at] == fields_of_pieces[name]).all(), name

fields, fields_of_pieces = arrays(whole.GetCellData()), arrays(pieces.GetCellData())
assert fields.keys() == fields_of_pieces.keys() and "von_mises" in fields
for name in fields:
    near(name, numpy.sort(fields[name]), numpy.sort(fields_of_pieces[name]))
integrals, integrals_of_pieces = arrays(sums.GetCellData()), arrays(sums_of_pieces.GetCellData())
assert integrals.keys() == integrals_of_pieces.keys() and integrals.keys() & {"Volume", "Area"}
for name in integrals:
    near(f"integral of {name}", integrals[name], integrals_of_pieces[name])
print("the same")
